// The labelling queue: one case, numbered agents; a key or a click labels it and shows the next at
// once. What was given is sent again until the server says that it is kept.

export default function (component) {
  const { parentElement, setStateValue } = component;
  const root = parentElement.querySelector('#labelling');
  const kept = memory(root);
  const data = received(component, kept);
  const options = listeners(kept);
  if (kept.scope !== data.scope) {
    Object.assign(kept, { scope: data.scope, given: [], skipped: [], last: null, back: null });
  }
  const saved = new Map(data.saved.map(([id, value]) => [id, value]));
  kept.setStateValue = setStateValue;
  kept.given = kept.given.filter(([id, value]) => saved.get(id) !== value);
  const draw = () => show(root, kept, data);
  const give = (it, value) => {
    kept.given = [...kept.given.filter(([other]) => other !== it.id), [it.id, value]];
    kept.last = value ? it : null;
    kept.back = value ? null : it;
    sayUntilHeard(kept, (tries) => kept.setStateValue('given', { labels: kept.given, tries }),
      () => !kept.given.length);
    draw();
  };
  const act = (action) => {
    const current = waiting(kept, data)[0];
    if (action === 'undo') {
      if (kept.last) give(kept.last, '');
    } else if (action === 'skip') {
      if (current) kept.skipped = [...kept.skipped.filter((id) => id !== current.id), current.id];
      draw();
    } else if (current) {
      give(current, action.slice('label:'.length));
    }
  };
  root.addEventListener('click', (event) => {
    const button = event.target.closest('button[data-action]');
    if (button) act(button.dataset.action);
  }, options);
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event)) return;
    const choice = data.choices.find((it) => it.key === event.key);
    const action = choice ? `label:${choice.value}` : { s: 'skip', u: 'undo' }[event.key];
    if (!action) return;
    event.preventDefault();
    act(action);
  }, options);
  draw();
  if (kept.labeller !== data.labeller) {
    kept.labeller = data.labeller;
    leaveTheName(root, data.labeller);
  }
  return whenGone(kept, options);
}

// Who has said who they are goes on with the keys: in the field, a 1 would become part of the name.
function leaveTheName(root, labeller) {
  const field = document.activeElement;
  if (field instanceof HTMLInputElement && field.value.trim() === labeller) {
    root.tabIndex = -1;
    root.focus({ preventScroll: true });
  }
}

// The cases that nobody here has labelled yet; one that was taken back comes first, skipped ones last.
function waiting(kept, data) {
  const given = new Map(kept.given);
  const back = kept.back && !given.get(kept.back.id) ? [kept.back] : [];
  const open = data.queue.filter((it) => !given.get(it.id) && it.id !== back[0]?.id);
  const skipped = (it) => kept.skipped.indexOf(it.id);
  return [...back, ...open.filter((it) => skipped(it) < 0),
    ...open.filter((it) => skipped(it) >= 0).sort((x, y) => skipped(x) - skipped(y))];
}

function show(root, kept, data) {
  const current = waiting(kept, data)[0];
  const fresh = kept.given.filter(([id, value]) => value && data.queue.some((it) => it.id === id));
  const done = Math.min(data.total, data.done + fresh.length);
  const bar = make('div', 'progress');
  const fill = make('span', 'fill');
  fill.style.width = `${data.total ? (100 * done) / data.total : 0}%`;
  bar.append(fill);
  const said = make('div', 'said', `${count(done)} of ${count(data.total)} labelled by ${data.labeller}`);
  said.setAttribute('role', 'status');
  const parts = [said, bar];
  if (current) {
    const asked = make('div', 'asked text', current.text);
    asked.setAttribute('aria-live', 'polite');
    parts.push(asked);
    if (current.why) parts.push(make('div', 'why text', current.why));
    parts.push(...choices(data.choices, current));
  } else {
    parts.push(make('p', 'asked', data.total ? data.finished : data.nothing));
  }
  const more = make('div', 'more');
  if (current) more.append(button('skip', 'Skip', 's'));
  if (kept.last) more.append(button('undo', 'Undo the last one', 'u'));
  parts.push(more);
  root.replaceChildren(...parts);
}

function choices(all, current) {
  const list = make('ul', 'choices');
  list.setAttribute('aria-label', 'Who should get it?');
  for (const choice of all) {
    const row = make('li');
    const element = button(`label:${choice.value}`, choice.name, choice.key);
    if (current.guesses.includes(choice.value)) element.classList.add('guessed');
    row.append(element, make('span', 'says text', choice.says));
    list.append(row);
  }
  return [make('h3', '', 'Who should get it?'), list];
}

function button(action, name, key) {
  const element = make('button');
  element.type = 'button';
  element.dataset.action = action;
  if (key) {
    const sign = make('kbd', '', key);
    sign.setAttribute('aria-hidden', 'true');
    element.append(sign);
    element.setAttribute('aria-keyshortcuts', key);
  }
  element.append(make('span', 'text', name));
  return element;
}
