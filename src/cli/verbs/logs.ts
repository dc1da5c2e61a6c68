import { hasEnded } from '../../base/run-words.js';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../../base/user-error.js';
import type { Fleet, RunSummary } from '../../client/fleet.js';
import { runFiles } from '../../contract/files.js';
import { statRegular } from '../../files/regular-file.js';
import { shortened } from '../../text/display-text.js';
import { chooseRuns } from '../chosen-runs.js';
import { type LogOptions, LogPrinter } from '../logs/log-printer.js';
import { withFleet } from '../open-fleet.js';
import type { CommonOptions } from '../options.js';
import { painted } from '../show/run-table.js';
import { hasColour, isTerminal, printBytes, printed, printPart, remark } from '../terminal.js';

type LogsOptions = Pick<CommonOptions, 'runs'> & {
  follow?: boolean;
  lines?: number;
  grep?: string;
  raw?: boolean;
};

/** Interval of looks at the files, ms. */
const LOOK_MS = 100;
const DEFAULT_LINES = 50;

/**
 * `memrl-tui logs RUN|QUERY`: prints the end of their output; with `-f` also new output, over all attempts, until the runs have
 * ended.
 */
export async function logs(words: readonly string[], options: LogsOptions): Promise<number> {
  const how = logOptions(options);
  return withFleet(options, async (fleet) => {
    const runs = await chooseRuns(words, fleet);
    const printers = new Map(runs.map((run) => [run.id, printerOf(run, runs, how)]));
    for (const run of runs) {
      if (options.follow !== true) tellSilence(run);
      await printers.get(run.id)!.printLast();
    }
    if (options.follow === true) await follow(fleet, printers);
    else for (const printer of printers.values()) printer.printRest();
    return 0;
  });
}

function logOptions({ lines, grep, raw }: LogsOptions): LogOptions {
  if (raw === true && isTerminal()) {
    throw new UserError(
      'The raw output of a run is not printed to a terminal: it may hold control sequences.',
      'Leave out --raw, or pipe the output: `memrl-tui logs RUN --raw | less -R`.',
    );
  }
  return { count: lines ?? DEFAULT_LINES, grep: grep === undefined ? null : pattern(grep), raw: raw ?? false };
}

function pattern(text: string): RegExp {
  try {
    return new RegExp(text, 'u');
  } catch (cause) {
    const reason = (cause as Error).message.replace(/^Invalid regular expression: /, '');
    throw new UserError(
      `--grep ${shortened(text)} is not a regular expression: ${shortened(reason)}.`,
      'Escape special characters with \\.',
      {
        cause,
      },
    );
  }
}

function printerOf({ directory, name, id }: RunSummary, all: readonly RunSummary[], how: LogOptions): LogPrinter {
  const names = all.map((run) => run.name);
  const shown = names.filter((each) => each === name).length > 1 ? id : name;
  const prefix = all.length === 1 ? null : hasColour() ? painted(`${shown} │ `, 'dim') : `${shown} | `;
  return new LogPrinter(directory, prefix, how, { text: printPart, bytes: printBytes, settled: printed });
}

function tellSilence({ name, directory, state }: RunSummary): void {
  const log = join(directory, runFiles.log);
  const found = statRegular(log);
  if (found.kind === 'unreadable') remark(`The output of ${name} cannot be read: ${found.reason}: ${log}`);
  else if (found.kind === 'absent' || found.stat.size === 0) remark(`${name} has written nothing (it is ${state}).`);
}

/** Follows the logs until all runs have ended and all their output is printed. */
async function follow(fleet: Fleet, printers: ReadonlyMap<RunSummary['id'], LogPrinter>): Promise<void> {
  const open = new Map(printers);
  let isLeft = false;
  void fleet.until(() => open.size === 0).then(() => (isLeft = true));
  while (open.size > 0 && !isLeft) {
    for (const [id, printer] of open) {
      // Checked before the file is read, as all output is there once a run has ended.
      const isLast = fleet.connection === 'connected' && hasEnded(fleet.runs.get(id)?.state ?? 'lost');
      await printer.printAdded();
      if (!isLast) continue;
      printer.printRest();
      open.delete(id);
    }
    if (open.size > 0) await sleep(LOOK_MS);
  }
}
