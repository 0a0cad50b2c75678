"""How a benchmark tells its code server which tools to load, without loading them itself."""

TOOLS_VARIABLE, PROVIDER_VARIABLE = "BENCH_TOOLS", "BENCH_PROVIDER_URL"


def tools_environment(tools: str, provider_url: str = "") -> dict[str, str]:
    """`tools`: a key of `benchmarks.definitions.PROVIDERS`."""
    return {TOOLS_VARIABLE: tools, PROVIDER_VARIABLE: provider_url}
