import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { countingAmong, inMetricOrder, shownMetrics } from '../../analysis/metric-order.js';
import { runFiles, runMarks } from '../../contract/files.js';
import { hasWandbAccount } from '../../files/wandb-account.js';
import { describeSources, type MetricsReport } from '../../metrics/describe-sources.js';
import { openMetrics } from '../../metrics/run-metrics.js';
import { writeFresh } from '../../files/whole-file.js';
import { type CallEnd, callProgram } from '../../processes/short-call.js';
import { loggerEnvironment } from '../../spec/expand/wandb-run.js';
import { at, own } from '../ports.js';

/** The result of running a program in a temporary folder. */
export type Tried = {
  readonly end: CallEnd;
  /** The beginning of its output. */
  readonly output: string;
  readonly metrics: MetricsReport;
  /** The most telling metrics, best first. */
  readonly shown: readonly string[];
  /** Whether it wrote metrics to its working directory, by its own choice. */
  readonly writesThere: boolean;
};

/** Number of bytes of the output that are kept. */
const HEAD = 1 << 20;
/** Time for the program to write its data after SIGTERM, ms. */
const GRACE_MS = 2000;

/**
 * Runs a command in an empty folder, which is its working directory and the directory of its run, and examines what it wrote. Words
 * that name local files are made absolute; Python finds modules here.
 */
export async function tried(command: readonly string[], limits: { patienceMs: number; most: number }): Promise<Tried> {
  const root = mkdtempSync(join(tmpdir(), 'memrl-init-'));
  const [directory, work] = [join(root, 'run'), join(root, 'work')];
  mkdirSync(directory);
  mkdirSync(work);
  try {
    const environment = {
      ...own().env,
      ...loggerEnvironment(directory, own().env, hasWandbAccount(own().env, work)),
      ...plainOutput,
      ...{ [runMarks.directory]: directory, [runMarks.id]: 'init/trial', [runMarks.attempt]: '1' },
      PYTHONPATH: [own().cwd(), own().env['PYTHONPATH'] ?? ''].filter((each) => each !== '').join(delimiter),
    };
    const [program = '', ...args] = fromHere(command);
    const tree = { directory, leftovers: 'killed', graceMs: GRACE_MS } as const;
    const end = await callProgram({ program, args, cwd: work, environment, tree, ...limits });
    const output = end.kind === 'unstartable' ? Buffer.alloc(0) : end.stdout;
    writeFresh(join(directory, runFiles.log), output, 0o600);
    const metrics = await openMetrics(directory, { places: { folders: [work], patterns: {} } }).readToEnd(turn);
    const keys = metrics.keys();
    const choice = { show: [], x: 'step' };
    const order = inMetricOrder(keys, choice);
    const counting = new Set(countingAmong(order, choice, metrics));
    const report = describeSources(metrics);
    return {
      end,
      output: output.subarray(0, HEAD).toString('utf8'),
      metrics: report,
      shown: keys.length === 0 ? [] : shownMetrics(keys, choice, counting),
      writesThere: report.sources.some(
        ({ state, files }) => state === 'told' && files.some((file) => resolve(directory, file).startsWith(`${work}/`)),
      ),
    };
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Variables for a wide output without colours. */
const plainOutput = {
  COLUMNS: '200',
  TERM: 'dumb',
  NO_COLOR: '1',
  PYTHONUNBUFFERED: '1',
  PYTHONDONTWRITEBYTECODE: '1',
};

/** Yields, so that Ctrl-C is handled. */
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

/** A command with the same meaning in another directory: words that are paths of existing files are made absolute. */
export function fromHere(command: readonly string[]): string[] {
  return command.map((word, index) => {
    const isPath = index > 0 ? /[./]/.test(word) : word.includes('/');
    return isPath && !word.startsWith('-') && existsSync(at(word)) ? at(word) : word;
  });
}
