"""What a person uses: the `handoff` command and the Streamlit screens."""
