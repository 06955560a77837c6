"""Settings of a server in a test."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from meijin.server.settings import Registration, Settings
from meijin.store import Durability


class _IsolatedSettings(Settings):
    """Settings that neither the environment nor a file changes."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - pydantic's signature
        init_settings: PydanticBaseSettingsSource,
        *_sources: PydanticBaseSettingsSource,
        **_others: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)


def settings_in(folder: Path, **changes: Any) -> Settings:
    """The settings of a server in `folder`: everybody may come in, nothing takes long."""
    defaults: dict[str, Any] = {
        "listen": "127.0.0.1:0",
        "data": folder,
        "durability": Durability.PROCESS,
        "registration": Registration.OPEN,
        "drain": timedelta(0),
    }
    return _IsolatedSettings(**(defaults | changes))
