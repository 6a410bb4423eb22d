"""What each screen shows, as frozen data: no Streamlit, no figures, no store."""
