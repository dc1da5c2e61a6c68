import { basename } from 'node:path';
import { UserError } from '../base/user-error.js';
import { readRegular } from '../files/regular-file.js';
import { parseSweepFile } from '../spec/file/parse-sweep-file.js';
import { type Imported, importSweep } from '../spec/import/formats.js';
import { shellQuote } from '../text/shell-words.js';
import { refuseExisting, sweepNameOf, sweepPath, writeNewSweep } from './new-sweep-file.js';
import { at, own } from './ports.js';
import { checkedText, inWords, planOf, typedSweep } from './launch/read.js';
import { print, remark } from './terminal.js';

type ImportOptions = { name?: string; print?: boolean };

/** Size limit in bytes, above that of any file that people write. */
const MOST = 4 * 2 ** 20;

/**
 * `memrl-tui import FILE`: writes a sweep file from the file of another program, and says what was not taken over. Overwrites
 * nothing, and executes nothing. Returns the exit code.
 */
export async function importFile(
  [path = '-', ...more]: readonly string[],
  { name, print: prints }: ImportOptions,
  command: readonly string[],
): Promise<number> {
  if (more.length > 0) throw new UserError('One file is imported at a time.', `Type: memrl-tui import ${path}`);
  const text = path === '-' ? await standardInput() : fileText(path);
  const made = importSweep({ text, path, command, readFile: fileReader() });
  const target = sweepPath(name, path === '-' ? 'imported' : sweepNameOf([basename(path)]));
  if (prints !== true) refuseExisting(target);
  const runs = checkedRuns(made, target);
  for (const note of made.notes) remark(note);
  if (prints === true) {
    print(made.text.trimEnd().split('\n'));
    return 0;
  }
  writeNewSweep(target, made.text.replace('memrl-tui FILE', `memrl-tui ${target}`));
  const count = runs === null ? '' : ` with ${runs} runs`;
  const options = made.options.length === 0 ? '' : ` ${shellQuote(made.options)}`;
  print([
    `Wrote ${target}${count}, from ${made.format}.`,
    `Compare it, then launch it: memrl-tui ${target} --dry-run --verbose${options}`,
  ]);
  return 0;
}

/**
 * Checks that the text is a valid sweep file, and starts what the imported one does. @returns The number of runs; null: it is only
 * known at the launch.
 */
function checkedRuns({ text, commands }: Imported, path: string): number | null {
  // Variables of the environment may be set later.
  if (text.includes('${envvar:')) {
    parseSweepFile(text, path);
    return null;
  }
  const { plan } = planOf(typedSweep(text, path), {});
  const isSame = commands === undefined || sorted(commands) === sorted(plan.runs.map(({ argv }) => argv));
  if (!isSame) throw new Error(`The sweep file would start other commands than the imported one:\n${text}`);
  return plan.source === undefined ? plan.runs.length : null;
}

function sorted(commands: readonly (readonly string[])[]): string {
  return commands
    .map((words) => JSON.stringify(words))
    .sort()
    .join('\n');
}

/** Reads files that the imported one names, each once. */
function fileReader(): (path: string) => string | null {
  const known = new Map<string, string | null>();
  return (path) => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const read = readRegular(at(path), MOST);
    known.set(path, read.kind === 'text' ? read.text : null);
    return read.kind === 'text' ? read.text : null;
  };
}

function fileText(path: string): string {
  const read = readRegular(at(path), MOST);
  if (read.kind === 'text') return checkedText(read.text, path);
  const why = read.kind === 'absent' ? 'there is no such file' : inWords(read.reason);
  throw new UserError(`Cannot read ${path}: ${why}.`, 'Give the file of another program, or `-` for standard input.');
}

async function standardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of own().stdin as AsyncIterable<Buffer | string>) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MOST)
      throw new UserError(
        `Cannot read standard input: ${inWords(`it is larger than ${MOST} bytes`)}.`,
        'Give the file that you want to import.',
      );
    chunks.push(bytes);
  }
  return checkedText(Buffer.concat(chunks).toString('utf8'), '-');
}
