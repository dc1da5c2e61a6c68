/** The verb `memrl serve`: starts a service that Tinker's SDK trains and samples on. */
import { randomBytes } from 'node:crypto';
import { appendFileSync, renameSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { errorText, UserError } from '../../../base/user-error.js';
import { key, type Config } from '../../config/key.js';
import { int, namesIn, oneOf, orNone, text } from '../../config/value-type.js';
import { engineChoices } from '../../engine/choose-engine.js';
import { makeDirectory } from '../../run/make-directory.js';
import type { ProcessContext, StopSignal } from '../../run/process-context.js';
import { lockRun } from '../../run/run-lock.js';
import { apiRoutes } from './api.js';
import { servedHome, serveDirectory } from '../../run/served-weights.js';
import { Checkpoints } from './checkpoints.js';
import { Downloads } from './downloads.js';
import { Futures, RequestQueue } from './futures.js';
import { httpServer, isLoopback, type RequestLine } from './http-server.js';
import { ModelCatalogue } from './model-catalogue.js';
import { SamplingService } from './sampling-service.js';
import { Sessions, type Session } from './sessions.js';
import { StepCosts } from './step-costs.js';
import { startComputing } from './thread-calls.js';
import { TrainingService } from './training-service.js';

export const serveKeys = {
  model: key(
    text,
    'memrl/tiny',
    'base models, with commas between: directories of Hugging Face or of memrl; memrl/tiny, memrl/stories and memrl/words are always there; `model=` may be left out',
  ),
  port: key(int(0, 65_535), 8765, 'where to listen; 0 takes any free port'),
  host: key(text, '127.0.0.1', 'address to listen on; any but a loopback address needs MEMRL_SERVE_TOKEN'),
  dir: key(text, serveDirectory, 'directory for weights, models that are made, and the log of requests'),
  engine: key(oneOf(engineChoices), 'auto', 'what computes'),
  threads: key(orNone(int(1)), null, 'threads of our kernels; None leaves it to the engine'),
  max_requests: key(int(1), 10_000, 'requests that may wait for their results; more are answered with 429'),
  max_models: key(int(1), 64, 'models under training that may be in memory'),
  idle_minutes: key(int(1), 60, 'time without requests from its client after which a session ends'),
};
export type ServeConfig = Config<typeof serveKeys>;

const tokenVariable = 'MEMRL_SERVE_TOKEN';
/** The SDK refuses keys that begin with anything else. */
const tokenStart = 'tml-';
const limits = { mostBodyBytes: 64 * 2 ** 20, mostBytesAtOnce: 256 * 2 ** 20 };
/** Stays below the 45 seconds after which the SDK gives up. */
const longPollMs = 25_000;
const summaryEveryMs = 10_000;

/** Serves until a signal arrives; returns that signal. */
export async function serve(config: ServeConfig, context: ProcessContext): Promise<StopSignal> {
  const thread = new URL('./compute-thread.js', import.meta.url);
  const { server, training, sessions, costs, lost, close } = openService(config, context, { thread });
  try {
    await listen(server, config);
  } catch (error) {
    await close();
    throw error;
  }
  const { address, port } = server.address() as AddressInfo;
  context.log(`serving on http://${address.includes(':') ? `[${address}]` : address}:${port}`);
  costs.logAll().catch(bugsIn(context.log));
  const logProgress = progress(sessions, context.log);
  const summary = setInterval(() => {
    logProgress();
    training.endIdle(config.idle_minutes * 60_000);
  }, summaryEveryMs);
  try {
    return await Promise.race([waitForSignal(context), lost]);
  } finally {
    clearInterval(summary);
    await close();
  }
}

/**
 * Builds the service without listening; `close` ends all connections.
 *
 * @param start.thread The bundle of `compute-thread.ts`.
 * @param start.boot Names this start in the ids of sessions and results, so that ids of an earlier start are recognised.
 */
export function openService(
  config: ServeConfig,
  context: ProcessContext,
  { thread, boot = randomBytes(4).toString('hex') }: { thread: URL; boot?: string },
) {
  const token = tokenOf(config.host, context.environment);
  makeDirectory(config.dir, 'dir');
  const unlock = lockRun(config.dir, context.processes, ofService);
  const [{ engine, threads }, { environment }] = [config, context];
  const [home, models] = [join(config.dir, 'models'), namesIn(config.model)];
  const catalogue = new ModelCatalogue(home, models);
  const checkpoints = new Checkpoints(servedHome(config.dir), context.time);
  checkpoints.clean();
  const bug = bugsIn(context.log);
  const { computing, lost, close: stop } = startComputing(thread, { home, models, environment, engine, threads });
  const parts = {
    catalogue,
    checkpoints,
    sessions: new Sessions(boot, context.time),
    futures: new Futures(boot, config.max_requests, bug),
    queue: new RequestQueue(),
    downloads: new Downloads(checkpoints, computing, context.time),
    computing,
    costs: new StepCosts(catalogue, computing, context.log),
  };
  const training = new TrainingService({ ...parts, mostModels: config.max_models, log: context.log, bug });
  const sampling = new SamplingService(parts);
  const reporting = { now: context.now, line: requestLog(join(config.dir, 'requests.jsonl'), context), bug };
  const routes = apiRoutes({ ...parts, training, sampling }, { longPollMs });
  const server = httpServer(routes, { token, ...limits }, reporting);
  const close = () => {
    server.close();
    server.closeAllConnections();
    unlock();
    return stop();
  };
  return { server, training, sessions: parts.sessions, costs: parts.costs, lost, close };
}

/** Two services on one directory would each remove the other's unfinished saves, as left behind by a killed service. */
const ofService = { it: 'serves from this directory', key: 'dir' };

/** Logs errors that no request caused. */
function bugsIn(log: (line: string) => void): (error: unknown) => void {
  return (error) => log(`bug: ${error instanceof Error ? error.stack : String(error)}`);
}

export function listen(server: Server, { host, port }: Pick<ServeConfig, 'host' | 'port'>): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'another program listens there' : error.message;
      reject(new UserError(`The service cannot listen on ${host}:${port}: ${why}.`, 'Give another port=, or port=0.'));
    });
    server.listen(port, host, () => resolve());
  });
}

/** The key that clients must know; null where only this machine can connect. @throws UserError when others could connect without a key. */
function tokenOf(host: string, environment: ProcessContext['environment']): string | null {
  const token = environment[tokenVariable];
  if (token !== undefined && token !== '') {
    if (token.startsWith(tokenStart) && token.length >= 20) return token;
    throw new UserError(
      `The key in ${tokenVariable} cannot be used.`,
      `Begin it with ${tokenStart} (the SDK wants it so) and make it at least 20 characters long.`,
    );
  }
  if (isLoopback(host)) return null;
  throw new UserError(
    `On ${host} other machines could connect, and there is no key that they must know.`,
    `Set ${tokenVariable} to a secret that begins with ${tokenStart}, or leave host=127.0.0.1.`,
  );
}

/** Logs the work of each session since the last call, if there was any. */
function progress(sessions: Sessions, log: (line: string) => void): () => void {
  const logged = new WeakMap<Session, string>();
  return () => {
    for (const session of sessions.all) {
      const { steps, trained, sampled } = session.done;
      const words = `${steps} optimizer steps · ${trained} sequences trained on · ${sampled} sampled`;
      if (steps + trained + sampled === 0 || logged.get(session) === words) continue;
      logged.set(session, words);
      log(`session ${session.id}: ${words}`);
    }
  };
}

const mostLogBytes = 64 * 2 ** 20;

/**
 * Writes one line of JSON for each request. A full log is kept beside the new one. A log that cannot be written is reported once,
 * and the service goes on.
 */
function requestLog(path: string, { time, log }: ProcessContext): (line: RequestLine) => void {
  let size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  let hasFailed = false;
  const append = (words: string) => {
    if (size > mostLogBytes) {
      renameSync(path, `${path}.1`);
      size = 0;
    }
    appendFileSync(path, words);
    size += words.length;
  };
  return (line) => {
    try {
      append(`${JSON.stringify({ time: new Date(time()).toISOString(), ...line })}\n`);
    } catch (error) {
      if (!hasFailed) log(`requests are no longer logged: ${errorText(error)}`);
      hasFailed = true;
    }
  };
}

/** Polls for a signal five times a second. */
async function waitForSignal({ stopAsked }: ProcessContext): Promise<StopSignal> {
  for (;;) {
    const signal = await stopAsked();
    if (signal !== null) return signal;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
