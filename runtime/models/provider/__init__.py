"""Live models (the extra `live`): what their names say, how they are asked, what can go wrong."""

from handoff_console.runtime.models.provider.model import ProviderModel

__all__ = ["ProviderModel"]
