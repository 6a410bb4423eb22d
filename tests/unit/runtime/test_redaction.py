"""What is never written, and what looks like it and stays."""

import json
import time

import pytest

from handoff_console.runtime.redaction import SENSITIVE_KEYS, Redaction, has_mark, mark_of

RULES = Redaction()
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize("key", sorted(SENSITIVE_KEYS))
def test_the_value_under_a_sensitive_key_is_removed(key):  # R63
    assert RULES.clean({key: "4812-x", "order_id": "A-1001"}) == {
        key: f"[redacted: {key}]",
        "order_id": "A-1001",
    }


@pytest.mark.parametrize(
    "key", ["Card-Number", "card number", "cardNumber", "CARD_NUMBER", " iban "]
)
def test_a_sensitive_key_is_known_however_it_is_written(key):
    assert RULES.is_sensitive(key)
    assert RULES.clean({key: "4812"}) == {key: f"[redacted: {key}]"}


@pytest.mark.parametrize(
    "key",
    [
        "db_password",
        "DB_PASSWORD",
        "dbPassword",
        "PGPASSWORD",
        "password_2",
        "passwordConfirmation",
        "OPENAI_API_KEY",
        "openai_api_key",
        "openAIApiKey",
        "x-goog-api-key",
        "user_token",
        "AWS_SECRET",
        "pwd",
        "cardNo",
        "billing_card_no",
        "old_cvv",
        "customer_iban",
        "db-credentials",
        "Proxy-Authorization",
        "Set-Cookie",
    ],
)
def test_a_name_that_ends_with_a_sensitive_key_is_one(key):
    assert RULES.clean({key: "hunter2"}) == {key: f"[redacted: {key}]"}
    assert RULES.clean_text(f"{key}=hunter2zz; more") == f"{key}=[redacted: {key}]; more"
    assert RULES.clean_text(json.dumps({key: "a b"})) == json.dumps({key: f"[redacted: {key}]"})


@pytest.mark.parametrize(
    "key",
    [
        "tokens",
        "max_tokens",
        "input_tokens",
        "inputTokens",
        "token_count",
        "tokens_used",
        "max_token",
        "cost_per_token",
        "next_page_token",
        "stop_token",
        "has_password",
        "requiresPassword",
        "password_changed_at",
        "api_key_id",
        "secret_santa",
        "return_authorization",
        "shipping_pin_code",
        "discard_notes",
        "cookies_accepted",
        "monkey",
        "card_type",
        "secretary",
    ],
)
def test_a_key_that_only_contains_the_word_keeps_its_value(key):
    assert RULES.clean({key: "4812"}) == {key: "4812"}
    assert RULES.clean_text(f"{key}: 4812") == f"{key}: 4812"
    assert RULES.clean_text(json.dumps({key: 4812})) == json.dumps({key: 4812})


def test_a_value_is_removed_at_any_depth_whatever_its_type():
    value = {"customer": [{"password": {"old": "a", "new": "b"}}, {"token": 4812}]}

    assert RULES.clean(value) == {
        "customer": [{"password": "[redacted: password]"}, {"token": "[redacted: token]"}]
    }


def test_a_sensitive_key_without_a_value_stays_empty():
    assert RULES.clean({"iban": None, "token": "", "cvv": []}) == {
        "iban": None,
        "token": "",
        "cvv": [],
    }


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Authorization: Bearer abcdEFGH12345678", "Authorization: [redacted: bearer]"),
        (
            "curl -H 'authorization: Basic dXNlcjpwYXNz'",
            "curl -H 'authorization: [redacted: basic]'",
        ),
        ("it says basic\tdXNlcjpwYXNz here", "it says [redacted: basic] here"),
        ("use sk-proj-abcdefghijklmnop1234 now", "use [redacted: key] now"),
        ("use sk_live_51HabcdefGHIJ now", "use [redacted: key] now"),
        ("AKIAIOSFODNN7EXAMPLE", "[redacted: key]"),
        ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "[redacted: key]"),
        ("ghp_abcdefghij0123456789", "[redacted: token]"),
        ("glpat-abcdefghij0123456789", "[redacted: token]"),
        ("xoxb-123456789012-abcdef", "[redacted: token]"),
        ("HF=hf_abcdefghijklmnopqrstuvwx", "HF=[redacted: token]"),
        ("npm_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted: token]"),
        ("curl -H 'Cookie: a=b; c=d' -v", "curl -H 'Cookie:[redacted: cookie]' -v"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "[redacted: token]"),
        ("postgres://app:hunter2@db/shop", "postgres://[redacted: password]@db/shop"),
        (f"key: {KEY} end", "key: [redacted: private key] end"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE and no end", "[redacted: private key]"),
    ],
)
def test_a_secret_is_removed_by_its_form(text, cleaned):  # R63
    assert RULES.clean_text(text) == cleaned


@pytest.mark.parametrize(
    "number",
    [
        "4111111111111111",
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "5555555555554444",
        "2223003122003222",
        "378282246310005",
        "3782 822463 10005",
        "30569309025904",
        "6011111111111117",
        "3530111333300000",
        "6759649826438453",
        "4222222222222",
        "4111  1111  1111  1111",
        "4111\N{NO-BREAK SPACE}1111\N{NO-BREAK SPACE}1111\N{NO-BREAK SPACE}1111",
        "3782\N{NARROW NO-BREAK SPACE}822463\N{NARROW NO-BREAK SPACE}10005",
        "4111\n1111\n1111\n1111",
        "4111\\n1111\\n1111\\n1111",  # JSON in a text
        "4111.1111.1111.1111",
        "4111/1111/1111/1111",
        "4111\N{EN DASH}1111\N{EN DASH}1111\N{EN DASH}1111",
        "4111 \N{EN DASH} 1111 \N{EN DASH} 1111 \N{EN DASH} 1111",
        "4111 - 1111 - 1111 - 1111",
    ],
)
def test_a_card_number_is_removed_by_its_check_digit(number):  # R63
    assert RULES.clean_text(f"paid with {number}.") == "paid with [redacted: card number]."


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("4111 1111 1111 1111 12/26", "[redacted: card number] 12/26"),
        ("4111111111111111 123", "[redacted: card number] 123"),
        (
            "2 cards: 4111111111111111 5555555555554444",
            "2 cards: " + "[redacted: card number] " * 2,
        ),
        ("17 4111 1111 1111 1111", "17 [redacted: card number]"),
        ("no.4111111111111111", "no.[redacted: card number]"),
        ("+4111111111111111", "+[redacted: card number]"),
        ("+378282246310005", "+[redacted: card number]"),
        ("card_4111111111111111", "card_[redacted: card number]"),
        ("x4111111111111111", "x[redacted: card number]"),
        ("4111111111111111EUR", "[redacted: card number]EUR"),
        ("4111111111111111abc", "[redacted: card number]abc"),
        ("4111 1111 1111 1111EUR", "[redacted: card number]EUR"),
        ("card4111-1111-1111-1111", "card[redacted: card number]"),
        ("4111\n1111\n1111\n1111\n123", "[redacted: card number]\n123"),
    ],
)
def test_a_card_number_is_found_among_other_numbers(text, cleaned):
    assert RULES.clean_text(text) == cleaned.rstrip()


def test_a_card_number_that_is_a_number_is_removed():
    assert RULES.clean([4111111111111111.0, 4111111111111112.0, 4111111111111111.5]) == [
        "[redacted: card number]",
        4111111111111112.0,
        "[redacted: card number].5",
    ]
    assert RULES.clean([1e300, float("inf"), True, 0.5]) == [1e300, float("inf"), True, 0.5]
    assert RULES.clean([4111111111111111, 4111111111111112]) == [
        "[redacted: card number]",
        4111111111111112,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "order ORD-9812 and A-1001, invoice 2026-000123",
        "4111111111111112",  # a wrong check digit
        "ticket 9999 8888 7777 6666 5",
        "2026-01-05T09:00:00.123456Z and 2026-01-05 09:00:00",
        "550e8400-e29b-41d4-a716-446655440000",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "call +49 151 23456789 or 0049 151 23456789",
        "0.4111111111111111",
        "max_tokens: 500, max_tokens=500, tokens: 12, token_count: 4",
        "the basic subscription plan, basic functionality, a basic 12-month plan",
        "the bearer instruments and bearer certificates",
        "risk-adjusted-performance-metrics",
        "https://example.com/a:b@c",
        "the secretary has a key: no",
        "keynote speaker: Ada",
        "a3f5c1d2e4b60718293a4b5c6d7e8f90",
        "abcdef4111111111111111abcdef0123",  # a digest of 32
        "4111111111111111abcdef0123456789abcdef01",  # one of 40
        "span 41111111111111d1",
        "94111111111111111111111",  # inside a longer run
        "-0.4111111111111111 and 10.4111111111111111",
        "call +4915123456704, or +50000000000009",  # right check digits
        "4111\n1111\n1111\n1111\n2222\n3333",  # a column of numbers
        "3333.4111.1111.1111.1111",
        "41114111-1111-4111-8111-111111111111",
        "4.111.111.111.111.111 EUR, 4,111,111,111,111,111",
        "2026/01/05 2026.01.05 20260105T090000123456",
        "10.41.11.11 and 192.168.100.200",
        "tracking 1Z999AA10123456784, LP00123456789012",
        "the hf_transformers_library_of_models and npm_config_registry",
    ],
)
def test_what_looks_like_a_secret_and_is_none_stays(text):
    assert RULES.clean_text(text) == text


def test_no_timestamp_is_taken_for_a_card_number():
    milliseconds = [1_767_603_600_000 + step for step in range(0, 500)]
    nanoseconds = [1_767_603_600_000_000_000 + step for step in range(0, 500)]

    assert RULES.clean(milliseconds + nanoseconds) == milliseconds + nanoseconds
    text = " ".join(map(str, milliseconds))
    assert RULES.clean_text(text) == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("password: hunter2, then more", "password: [redacted: password], then more"),
        ("password='two words'", "password='[redacted: password]'"),
        ("api key = abc", "api key = [redacted: api key]"),
        ("?access_token=abc&page=2", "?access_token=[redacted: access_token]&page=2"),
        ("IBAN: DE89 3704 0044 0532 0130 00 thanks", "IBAN: [redacted: IBAN] thanks"),
        ("ssn: 123 45 6789", "ssn: [redacted: ssn]"),
        ('{"cvv": 123, "a": 1}', '{"cvv": "[redacted: cvv]", "a": 1}'),
        ('{"token": {"a": ["b"]}, "c": 1}', '{"token": "[redacted: token]", "c": 1}'),
        ('{"password": "a\\"b", "c": 1}', '{"password": "[redacted: password]", "c": 1}'),
        ('{"token": "cut off', '{"token": "[redacted: token]"'),
        ('{"token": [1, 2', '{"token": "[redacted: token]"'),
        ('{"token": ["}a"], "c": 1}', '{"token": "[redacted: token]", "c": 1}'),
        ("token: [don't tell], more", "token: [redacted: token], more"),
        ("token: ", "token: "),
    ],
)
def test_a_named_value_is_removed_from_text(text, cleaned):
    assert RULES.clean_text(text) == cleaned


def test_json_in_a_text_is_json_afterwards():
    inner = json.dumps({"card_number": "4812", "note": 'say "hi"', "cvv": 12, "iban": ["x"]})
    for text in (inner, json.dumps(inner), json.dumps([inner])):
        cleaned = RULES.clean_text(text)

        assert "4812" not in cleaned
        assert "[redacted: card_number]" in cleaned
        json.loads(cleaned)


def test_cleaning_twice_changes_nothing_more():
    text = "Authorization: Bearer abcdEFGH12345678, password: hunter2, 4111 1111 1111 1111"

    once = RULES.clean_text(text)

    assert RULES.clean_text(once) == once
    assert RULES.clean({"password": once}) == {"password": "[redacted: password]"}


def test_without_patterns_only_the_names_count():
    rules = Redaction(patterns=False)

    assert rules.clean_text("4111111111111111") == "4111111111111111"
    assert (
        rules.clean_text("Authorization: Bearer abc1") == "Authorization: [redacted: Authorization]"
    )


def test_a_key_of_ones_own_counts_as_a_whole_only():
    rules = Redaction(keys=SENSITIVE_KEYS | {"name"})

    assert rules.clean({"name": "Ada", "tool_name": "search", "db_password": "x"}) == {
        "name": "[redacted: name]",
        "tool_name": "search",
        "db_password": "[redacted: db_password]",
    }
    assert rules.clean_text("name: Ada, tool_name: search") == (
        "name: [redacted: name], tool_name: search"
    )


def test_the_letter_of_an_escape_is_no_part_of_a_name():
    inner = json.dumps({"note": "one\ntoken: abc"})

    assert RULES.clean_text(inner) == '{"note": "one\\ntoken: [redacted: token]"}'


def test_a_key_of_ones_own_is_removed_as_well():
    rules = Redaction(keys=SENSITIVE_KEYS | {"customer_name"})

    assert rules.clean({"customerName": "Ada", "token": "x"}) == {
        "customerName": "[redacted: customerName]",
        "token": "[redacted: token]",
    }


@pytest.mark.parametrize(
    "word", ["PASSWORD", "Pa\N{LATIN SMALL LETTER LONG S}sword", "paßword", "\ud800 password"]
)
def test_a_word_is_noticed_however_it_is_written(word):
    assert RULES.may_hold(f"{word}: hunter2")


def test_off_removes_nothing():
    value = {"password": "hunter2", "card": "4111 1111 1111 1111", "text": "token: abc"}

    assert Redaction.off().clean(value) == value
    assert not Redaction.off().may_hold(json.dumps(value))


def test_sensitive_facts_stay_behind_and_their_names_are_told():  # R63
    facts = {"order_id": "A-1001", "card_number": "4111", "buyer": {"iban": "DE89", "city": "Ulm"}}

    kept, withheld = RULES.without_sensitive(facts)

    assert kept == {"order_id": "A-1001", "buyer": {"iban": "[redacted: iban]", "city": "Ulm"}}
    assert withheld == ("card_number",)


@pytest.mark.parametrize(
    "text",
    [
        "eyJ-" * 50_000,
        "12 34 " * 30_000,
        'token={"' * 25_000,
        "token" + " " * 200_000,
        "9" * 200_000,
        "4111.1111." * 20_000,
        "a_" * 100_000 + "token=x",
        "token" + "1" * 200_000 + "=x",
        "x1" * 100_000 + "4111111111111111",
    ],
    ids=["token", "digits", "brackets", "spaces", "number", "blocks", "name", "end", "word"],
)
def test_a_hostile_text_costs_time_in_step_with_its_length(text):
    began = time.process_time()

    RULES.clean_text(text)

    assert time.process_time() - began < 5  # seconds; what grows with the square takes minutes


@pytest.mark.parametrize(
    ("value", "is_marked"),
    [
        (f"my card is {mark_of('card number')}", True),
        ({"rows": [{mark_of("card number"): 3}]}, True),
        ({"rows": [{"card": "none"}]}, False),
        (4111, False),
    ],
)
def test_a_mark_is_found_at_any_depth_in_names_too(value, is_marked):
    assert has_mark(value) is is_marked
