"""What a row says about a session or a handoff, read from events: as views, and inside queries.

This program puts the text into its own queries. The views are for people who look into a store with
a tool of their own: this program reads files it does not trust (`trusted_schema = off`), and SQLite
before 3.45 then refuses JSON inside views.
"""

LINE_COLUMNS = (
    "session severity started_at_us outcome reason flow prompt_version origin preview verdict"
    " problem_handoff_id agent_at_fault turns handoffs refused depth hops tokens_used pool_tokens"
    " duration_us agents metadata closed_seq rerun_of rerun_handoff rerun_mode"
).split()

OPEN_SESSIONS_SQL = """
    with unlisted as (
        select session,
               (select max(event) from events where event > keys.session << 32
                and event < (keys.session + 1) << 32) as last_event
        from session_keys keys
        where not exists (select 1 from session_summary s where s.session = keys.session)
    ),
    seen as (
        select unlisted.session, e.seq, kinds.name as kind, e.payload
        from unlisted
        join events e on e.event > unlisted.session << 32 and e.event <= unlisted.last_event
        join kinds on kinds.kind = e.kind
    ),
    counted as (
        select session,
               min(seq) filter (where kind = 'user_message_received') as first_message,
               coalesce(sum(kind = 'user_message_received'), 0) as turns,
               coalesce(sum(kind = 'handoff_opened'), 0) as handoffs,
               coalesce(sum(kind = 'handoff_rejected'), 0) as refused,
               coalesce(max(payload ->> 'depth') filter (where kind = 'handoff_opened'), 0)
                   as depth,
               coalesce(max(payload ->> 'hops') filter (where kind = 'handoff_opened'), 0) as hops,
               coalesce(sum(payload ->> 'tokens') filter (where kind = 'budget_charged'), 0)
                   as tokens_used,
               coalesce(sum(payload ->> 'pool_tokens')
                        filter (where kind = 'user_message_received'), 0) as pool_tokens,
               sum(kind in ('input_requested', 'approval_requested'))
                   - sum(kind in ('input_given', 'approval_decided')) as asked,
               max(seq) filter (where kind in ('session_started', 'session_resumed')) as taken_up,
               json_group_array(distinct payload ->> 'agent')
                   filter (where kind = 'agent_activated') as agents
        from seen group by session
    )
    select counted.session,
           case when ended.name <> 'session_closed' then 2
                else case last.payload ->> 'status' when 'error' then 0 when 'limit_reached' then 1
                          when 'not_found' then 3 when 'ok' then 4 else 2 end end as severity,
           began.at_us as started_at_us,
           case when ended.name = 'session_closed' then
                    coalesce(last.payload ->> 'status',
                             iif(last.payload ->> 'cancelled', 'cancelled', 'unknown'))
                when counted.asked > 0 then 'waiting' else 'running' end as outcome,
           iif(ended.name = 'session_closed', coalesce(last.payload ->> 'reason', ''), '')
               as reason,
           coalesce(began.payload ->> 'flow', '') as flow,
           coalesce(began.payload ->> 'prompt_version', '') as prompt_version,
           coalesce(began.payload ->> 'origin', 'run') as origin,
           coalesce(said.payload ->> 'preview', '') as preview,
           '' as verdict, null as problem_handoff_id, null as agent_at_fault,
           counted.turns, counted.handoffs, counted.refused, counted.depth, counted.hops,
           counted.tokens_used, counted.pool_tokens, last.elapsed_us as duration_us, counted.agents,
           coalesce(began.payload -> 'metadata', '{}') as metadata, null as closed_seq,
           coalesce(began.payload ->> 'rerun_of', '') as rerun_of,
           coalesce(began.payload ->> 'rerun_handoff', '') as rerun_handoff,
           coalesce(began.payload ->> 'rerun_mode', '') as rerun_mode,
           taken.payload as process
    from counted
    join unlisted on unlisted.session = counted.session
    join events last on last.event = unlisted.last_event
    join kinds ended on ended.kind = last.kind
    join events began on began.event = (counted.session << 32) + 1
    left join events taken on taken.event = (counted.session << 32) + counted.taken_up
    left join events said on said.event = (counted.session << 32) + counted.first_message
"""
"""Sessions without a line, read from their events: running, waiting, interrupted, just closed."""

_COLUMNS = ", ".join(LINE_COLUMNS)

LINES_SQL = f"""
    select {_COLUMNS} from session_summary
    union all select {_COLUMNS} from ({OPEN_SESSIONS_SQL})
"""
"""A line for every session, whether it is written or has to be read from events."""

SESSIONS_SQL = f"""
    select keys.session_id, keys.imported_from, line.*, last.at_us as last_at_us,
           last.seq as last_seq
    from ({LINES_SQL}) line
    join session_keys keys on keys.session = line.session
    left join events last on last.event = (
        select max(event) from events
        where event > keys.session << 32 and event < (keys.session + 1) << 32)
"""
"""Every session, and when something was last heard of it."""


def handoffs_sql(where: str = "true") -> str:
    """Return the rows of the view `handoffs`, made only from events of which `where` holds."""
    return f"""
        with pieces as (
            select session, handoff_id,
                   min(seq) filter (where kinds.name = 'handoff_requested') as seq,
                   min(at_us) as at_us, min(turn) as turn, parent_id, path, attempt,
                   max(payload) filter (where kinds.name = 'handoff_requested') as asked,
                   max(payload) filter (where kinds.name = 'handoff_rejected') as denied,
                   max(payload) filter (where kinds.name = 'handoff_opened') as opened,
                   max(payload) filter (where kinds.name = 'handoff_closed') as ended,
                   max(seq) filter (where kinds.name = 'handoff_opened') as opened_seq,
                   max(seq) filter (where kinds.name = 'handoff_closed') as closed_seq,
                   sum(kinds.name in ('input_requested', 'approval_requested'))
                       - sum(kinds.name in ('input_given', 'approval_decided')) as pending
            from events join kinds on kinds.kind = events.kind
            where {where} and handoff_id is not null and kinds.name in
                  ('handoff_requested', 'handoff_rejected', 'handoff_opened', 'handoff_closed',
                   'input_requested', 'input_given', 'approval_requested', 'approval_decided')
            group by session, handoff_id
        )
        select session, seq, at_us, turn, handoff_id, parent_id, path, attempt,
               asked ->> 'source' as source,
               asked ->> 'target' as target,
               asked ->> 'via' as via,
               asked ->> 'reason' as reason,
               case when ended is not null then coalesce(ended ->> 'status', ended ->> 'ended_by')
                    when denied is not null then 'refused' when pending > 0 then 'waiting'
                    when opened is null then 'asked for' else 'running' end as outcome,
               ended ->> 'ended_by' as ended_by,
               ended ->> 'reason' as limit_reason,
               denied ->> 'rule' as refused_by,
               opened ->> 'depth' as depth,
               coalesce(opened ->> 'hop', iif(opened is null, null, 0)) as hop,
               opened ->> 'grant_tokens' as grant_tokens,
               ended ->> 'steps_used' as steps_used,
               ended ->> 'tokens_used' as tokens_used,
               ended ->> 'cost' as cost,
               ended ->> 'duration_seconds' as duration_seconds,
               asked ->> 'inputs_hash' as inputs_hash,
               asked ->> 'continues' as continues,
               asked ->> 'follows' as follows,
               ended ->> 'transferred_to' as transferred_to,
               opened_seq, closed_seq
        from pieces
    """
