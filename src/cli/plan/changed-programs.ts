import { isAbsolute, join } from 'node:path';
import type { RunRecord } from '../../contract/run-record.js';
import { statRegular } from '../../files/regular-file.js';
import type { PlannedRun } from '../../spec/planned-run.js';

/** What decides what a program does; data and results of others may change without that. */
const code = /\.(py|[cm]?[jt]s|sh|R|jl|rb|pl|lua|ya?ml|toml)$/;

/**
 * The programs and settings files of a run's command that were changed after its last start, as the command names them. Modules
 * that a program imports are not looked at.
 *
 * @param modified When a file was changed, Unix ms; null: there is no such file.
 */
export function changedPrograms(
  { argv, cwd, directory, snapshot }: Pick<PlannedRun, 'argv' | 'cwd' | 'directory' | 'snapshot'>,
  record: Pick<RunRecord, 'attempts' | 'snapshot'>,
  modified: (path: string) => number | null,
): string[] {
  const startedAt = record.attempts.at(-1)?.startedAt;
  if (startedAt === undefined || snapshot !== undefined || record.snapshot !== undefined) return [];
  return programsIn(argv).filter((name) => {
    const path = isAbsolute(name) ? name : join(cwd, name);
    return !path.startsWith(`${directory}/`) && (modified(path) ?? 0) > startedAt;
  });
}

function programsIn(argv: readonly string[]): string[] {
  const words = argv.map((word, at) => {
    // `python -m package.train`
    if (argv[at - 1] === '-m' && /^[\w.]+$/.test(word)) return `${word.replaceAll('.', '/')}.py`;
    return word.slice(word.indexOf('=') + 1);
  });
  return [...new Set(words.filter((word, at) => code.test(word) || (at === 0 && word.includes('/'))))];
}

/** Returns a function that looks at each file once, as thousands of runs have one program. */
export function modificationTimes(): (path: string) => number | null {
  const known = new Map<string, number | null>();
  return (path) => {
    if (!known.has(path)) {
      const found = statRegular(path);
      known.set(path, found.kind === 'file' ? found.stat.mtimeMs : null);
    }
    return known.get(path)!;
  };
}
