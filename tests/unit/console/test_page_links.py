"""The browser is told with the page which scripts it will need."""

import asyncio

import pytest

from handoff_console.console import page_links, server

PAGE = b"<html><head><title>"


def answered(path, status=200, kind="http", parts=(PAGE,)):
    """Return the messages of an application's answer as the browser gets them."""
    sent, asked = [], []

    async def page(scope, receive, send):
        asked.extend(scope["headers"])
        length = str(len(b"".join(parts))).encode()
        headers = [(b"etag", b"1"), (b"content-length", length)]
        await send({"type": f"{kind}.response.start", "status": status, "headers": headers})
        for place, part in enumerate(parts):
            more = place + 1 < len(parts)
            await send({"type": f"{kind}.response.body", "body": part, "more_body": more})

    async def keep(message):
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"accept-encoding", b"gzip")]
    scope = {"type": kind, "path": path, "headers": headers}
    asyncio.run(page_links.PageLinks(page)(scope, None, keep))
    return sent, asked


def test_the_page_of_a_session_names_the_charts_script_and_what_that_imports():
    (start, _), _ = answered("/session")

    links = dict(start["headers"])[b"link"]
    assert dict(start["headers"])[b"etag"] == b"1"
    assert b"</static/js/PlotlyChart." in links
    assert b"</static/js/withFullScreenWrapper." in links
    assert links.count(b"rel=preload; as=script; crossorigin") == len(links.split(b", "))


def test_a_page_is_told_that_its_server_is_at_the_root_of_its_address():
    (start, body), asked = answered("/session")

    assert body["body"] == b"<html><head>" + page_links.SERVER_TOLD + b"<title>"
    assert dict(start["headers"])[b"content-length"] == str(len(body["body"])).encode()
    assert asked == [(b"host", b"localhost")]


def test_an_answer_in_pieces_keeps_its_text_and_length():
    (start, *bodies), _ = answered("/session", parts=(PAGE, b"more"))

    assert [body["body"] for body in bodies] == [PAGE, b"more"]
    assert dict(start["headers"])[b"content-length"] == str(len(PAGE) + 4).encode()
    assert b"link" in dict(start["headers"])


def test_the_list_of_sessions_names_its_filters_and_no_chart():
    links = page_links.links_of("/")

    assert "/static/js/Selectbox." in links
    assert "PlotlyChart" not in links


def test_what_all_pages_load_is_named_by_none_again():
    assert "protobuf" not in page_links.links_of("/session")
    assert "react-dom" not in page_links.links_of("/session")


@pytest.mark.parametrize(
    ("path", "status", "kind"),
    [
        ("/static/js/index.js", 200, "http"),
        ("/health", 200, "http"),
        ("/session", 304, "http"),
        ("/session", 403, "http"),
        ("/session", 200, "websocket.http"),
    ],
)
def test_any_other_answer_stays_as_it_is(path, status, kind):
    (start, body), _ = answered(path, status, kind)

    length = str(len(PAGE)).encode()
    assert start["headers"] == [(b"etag", b"1"), (b"content-length", length)]
    assert body["body"] == PAGE


def test_a_streamlit_that_names_its_scripts_otherwise_is_told_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(page_links, "_front_end", lambda: tmp_path)
    page_links._with_imports.cache_clear()
    try:
        assert page_links.links_of("/session") == ""
    finally:
        page_links._with_imports.cache_clear()


def test_the_application_tells_links_only_to_its_own_host():
    layers = [layer.cls for layer in server.application()._user_middleware]
    assert layers[:2] == [server.OwnHostOnly, page_links.PageLinks]
