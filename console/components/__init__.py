"""The few pieces Streamlit lacks, in plain JavaScript and CSS: no build step, no network.

Whatever was recorded reaches the page as text nodes only: the scripts never set `innerHTML`.
The pieces of one page talk to each other in the browser, through one event on the document
(`handoff-cursor`), so that a step is painted without waiting for the server.
"""
