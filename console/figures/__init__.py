"""Figures: view models in, a Plotly or Graphviz description out. Nothing here draws."""
