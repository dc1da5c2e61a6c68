/**
 * Runs a program that has a sweep of W&B inside, offline, with an answer to what it would ask W&B's server:
 * `wandb-server.js COMMAND [ARGUMENTS…]`.
 *
 * It stays as the parent of the program, and ends as it ends. Signals that end a run go to all of its processes, so they are not
 * passed on; others are.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { openSweepServer, KEY } from './sweep-server.js';
import { readTrial, SweepBook } from './sweep-book.js';

const ending = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const;
const passed = ['SIGUSR1', 'SIGUSR2'] as const;
/** The code of a shell for a program that is not there, and for one that cannot be executed. */
const [ABSENT, NO_PROGRAM] = [127, 126];
/** Where a signal of its own does not end this process, it ends with the code of a shell, ms. */
const SIGNAL_MS = 1000;

void main(process.argv.slice(2));

async function main([program = '', ...words]: readonly string[]): Promise<void> {
  for (const signal of ending) process.on(signal, () => undefined);
  const directory = process.env['WANDB_DIR'] ?? process.cwd();
  const book = new SweepBook(directory, process.env, (run, metric) => readTrial(directory, run, metric));
  const server = await openSweepServer(book);
  const environment = { ...process.env, WANDB_BASE_URL: server.url, WANDB_API_KEY: KEY };
  const child = spawn(program, words, { stdio: 'inherit', env: environment });
  for (const signal of passed) process.on(signal, () => child.kill(signal));
  child.on('error', (error: NodeJS.ErrnoException) => {
    process.stderr.write(`memrl-tui: ${program}: ${error.code}\n`);
    process.exit(error.code === 'ENOENT' ? ABSENT : NO_PROGRAM);
  });
  child.on('exit', (code, signal) => {
    server.close();
    if (signal === null) process.exit(code ?? 1);
    for (const each of [...ending, ...passed]) process.removeAllListeners(each);
    process.kill(process.pid, signal);
    setTimeout(() => process.exit(128 + constants.signals[signal]), SIGNAL_MS);
  });
}
