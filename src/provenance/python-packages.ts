import { shortCall } from './short-call.js';

/** What a Python interpreter can import. Versions by name of the distribution; `1.2 @ file:///…` where it was not from an index. */
export type PythonPackages = {
  executable: string;
  version: string;
  prefix: string;
  packages: Record<string, string>;
};

/** ms */
const PATIENCE_MS = 10_000;

/** Only reads what is installed: no package is imported. The working directory is no place to import from here. */
const script = `
import sys
sys.path[:] = [path for path in sys.path if path]
import json, platform
from importlib import metadata
found = {}
for each in metadata.distributions():
    try:
        name, version = each.metadata["Name"], each.version
        origin = each.read_text("direct_url.json")
        if origin:
            origin = json.loads(origin)
            version += " @ " + origin["url"] + ("#" + origin["vcs_info"]["commit_id"] if "vcs_info" in origin else "")
        if name and name not in found:
            found[name] = version
    except Exception:
        pass
names = sorted(found, key=str.lower)
print()
print(json.dumps({"executable": sys.executable, "version": platform.python_version(), "prefix": sys.prefix,
                  "packages": {name: found[name] for name in names}}))
`;

/**
 * Asks the interpreter itself, once, in the working directory and environment of the runs; takes about 0.1–1 s, in the
 * background. Never rejects. A string says why it gave no answer.
 */
export async function pythonPackages(
  command: readonly string[],
  place: { cwd: string; environment: Readonly<Record<string, string>> },
): Promise<PythonPackages | string> {
  const { output, problem } = await shortCall([...command, '-c', script], { ...place, patienceMs: PATIENCE_MS });
  const line = output.toString().trimEnd().split('\n').at(-1)!;
  try {
    return JSON.parse(line) as PythonPackages;
  } catch {
    return problem ?? 'it gave no list';
  }
}
