"""Opens the model a profile names: the file fetched, the server running, the client connected."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from engine.protocol.errors import UserError
from engine.protocol.ports import ChatModel
from models.catalog import Catalog, load_catalog
from models.downloads import fetch
from models.openai_compatible import ClientSettings, Endpoint, OpenAICompatibleModel
from models.profile import ExecutionProfile
from models.scripted import Script, ScriptedModel
from models.servers.managed import ManagedServer, ServerSettings
from models.sources import FetchOptions, Progress


class ModelProvider:
    """Models of one engine; roles with the same model share one server.

    Args:
        cache_dir: folder of model files; servers keep lock, state and log in its folder ``servers``.
        on_progress: bytes done, bytes in all (0: unknown) and words; for downloads and loading.
        script: replies for the backend ``scripted``.
        catalog: None for the built-in one.
        environment: where API keys are looked up; None for ours.
        fetch_options: see `FetchOptions`.
    """

    def __init__(
        self,
        cache_dir: Path,
        on_progress: Progress,
        *,
        script: Script | None = None,
        catalog: Catalog | None = None,
        environment: Mapping[str, str] | None = None,
        fetch_options: FetchOptions | None = None,
    ) -> None:
        self._cache_dir = cache_dir
        self._progress = on_progress
        self._script = script
        self._catalog = catalog
        self._environment = os.environ if environment is None else environment
        self._fetch_options = fetch_options
        self._servers: dict[str, ManagedServer] = {}

    async def open(self, profile: ExecutionProfile, role: str) -> ChatModel:
        """The model for a role, ready to answer.

        Args:
            profile: see `ExecutionProfile`.
            role: such as ``executor``.

        Raises:
            UserError: no script, no key, no network, a damaged file, or no server.
            RetryableError: the server does not answer at this moment.
        """
        if profile.backend == "scripted":
            return self._scripted(profile, role)
        if profile.backend == "openai":
            endpoint = self._fixed(profile)
        else:
            endpoint = (await self._server(profile, profile.model_for(role))).endpoint
        model = OpenAICompatibleModel(_client_settings(profile, role), endpoint)
        try:
            await model.probe()
        except BaseException:
            await model.aclose()
            raise
        return model

    def _scripted(self, profile: ExecutionProfile, role: str) -> ScriptedModel:
        if self._script is None:
            raise UserError(
                "script.missing",
                "The profile {name} plays replies from a script, but none was named.",
                todo="Name one with --script FILE.",
                name=profile.name,
            )
        return ScriptedModel(self._script, role, context_tokens=profile.window)

    def _fixed(self, profile: ExecutionProfile) -> Callable[[], Awaitable[Endpoint]]:
        key = self._environment.get(profile.api_key_env, "") if profile.api_key_env else ""
        if profile.api_key_env and not key:
            raise UserError(
                "model.no_key",
                "There is no key for the profile {name}.",
                todo="Put it into the environment variable {variable}.",
                name=profile.name,
                variable=profile.api_key_env,
            )
        address = Endpoint(url=profile.base_url, api_key=key)

        async def endpoint() -> Endpoint:
            return address

        return endpoint

    async def _server(self, profile: ExecutionProfile, name: str) -> ManagedServer:
        entry = (self._catalog or load_catalog()).entry(name)
        path = await fetch(entry, self._cache_dir, self._progress, options=self._fetch_options)
        settings = ServerSettings(
            model=path,
            name=name,
            context_tokens=min(profile.window, entry.context_tokens),
            threads=profile.threads,
            load_timeout_s=profile.load_timeout_s,
            connect_timeout_s=profile.connect_timeout_s,
        )
        key = settings.key()
        if key not in self._servers:
            say = self._progress
            self._servers[key] = ManagedServer(settings, self._cache_dir / "servers", lambda text: say(0, 0, text))
        return self._servers[key]

    async def aclose(self) -> None:
        """End the servers that are ours and let go of the others; close the models first."""
        while self._servers:
            _, server = self._servers.popitem()
            await server.aclose()


async def open_model(
    profile: ExecutionProfile, role: str, cache_dir: Path, on_progress: Progress, script: Script | None = None
) -> ChatModel:
    """One model with all that belongs to it; closing it ends its server. For more than one role use `ModelProvider`.

    Args:
        profile: see `ExecutionProfile`.
        role: such as ``executor``.
        cache_dir: folder of model files.
        on_progress: see `Progress`.
        script: replies for the backend ``scripted``.

    Raises:
        UserError: see `ModelProvider.open`.
        RetryableError: see `ModelProvider.open`.
    """
    provider = ModelProvider(cache_dir, on_progress, script=script)
    try:
        model = await provider.open(profile, role)
    except BaseException:
        await provider.aclose()
        raise
    if isinstance(model, OpenAICompatibleModel):
        model.call_on_close(provider.aclose)
    return model


def _client_settings(profile: ExecutionProfile, role: str) -> ClientSettings:
    extra: dict[str, object] = {}
    if profile.thinking is not None and profile.backend == "llama_cpp":
        extra["chat_template_kwargs"] = {"enable_thinking": profile.thinking}
    return ClientSettings(
        model=profile.model_for(role),
        context_tokens=profile.window,
        first_token_timeout_s=profile.first_token_timeout_s,
        idle_timeout_s=profile.idle_timeout_s,
        connect_timeout_s=profile.connect_timeout_s,
        flavour="llama_cpp" if profile.backend == "llama_cpp" else "openai",
        extra_body=extra,
    )
