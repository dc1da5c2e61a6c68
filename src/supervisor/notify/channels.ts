import { type ChildProcess, spawn } from 'node:child_process';
import { kill } from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { LineSplitter } from '../../base/line-splitter.js';
import type { ChannelName, ChannelSetting } from '../../spec/policy/notify-channels.js';
import type { Message } from './notification.js';

/** What a channel may need, whatever it is set to. */
export type ChannelContext = {
  /** Of the sweep's submit. */
  environment: Readonly<Record<string, string>>;
  /** Told what the other side has to say, line by line. */
  heard: (line: string) => void;
  /** Waits between the tries, ms; there is one try more than waits. */
  backoffMs: readonly number[];
  /** Aborted when the supervisor ends. */
  signal: AbortSignal;
};

/** A way to tell people. `label`: for the log, without what is secret. `send`: gives what went wrong, or null; never rejects. */
type Channel<Setting> = {
  label: (setting: Setting) => string;
  send: (setting: Setting, message: Message, context: ChannelContext) => Promise<string | null>;
};

/** Each channel of the sweep file, by its key. */
export const channels: { readonly [Name in ChannelName]: Channel<ChannelSetting<Name>> } = {
  command: { label: ([program]) => `command ${program}`, send: runCommand },
  webhook: { label: (address) => `webhook ${originOf(address)}`, send: postWebhook },
};

/** A command that takes longer hangs, ms. */
const COMMAND_MS = 30_000;
/** The last lines of one that has ended are waited for, ms. */
const LAST_LINES_MS = 500;
/** Lines of its output that are passed on. */
const MOST_LINES = 50;

/**
 * Starts the command, without a shell, with the message in words as its last argument and as one line of JSON on its
 * stdin. Gives what went wrong, or null. Never rejects.
 */
async function runCommand(words: readonly string[], message: Message, context: ChannelContext): Promise<string | null> {
  try {
    return await run(words, message, context);
  } catch (error) {
    // What no system call can take: a NUL byte, more than fits on a command line.
    return (error as Error).message;
  }
}

function run(
  [program, ...words]: readonly string[],
  message: Message,
  { environment, heard, signal }: ChannelContext,
): Promise<string | null> {
  return new Promise((resolve) => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(COMMAND_MS)]);
    // In a group of its own, so that what it starts can be ended with it.
    const options = { env: environment, detached: true } as const;
    const child = spawn(program!, [...words, message.text], { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    limit.addEventListener('abort', () => {
      endGroup(child);
      resolve(signal.aborted ? 'the supervisor ended first' : `still running after ${COMMAND_MS / 1000} s`);
    });
    passOn(child.stdout, heard);
    passOn(child.stderr, heard);
    child.on('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ENOENT' ? 'command not found' : error.message),
    );
    child.on('exit', (code, ended) => {
      const problem = code === 0 ? null : `ended with ${ended ?? `code ${code}`}`;
      // Its last lines may still be on their way; something it left behind may hold the other end for ever.
      child.once('close', () => resolve(problem));
      setTimeout(() => resolve(problem), LAST_LINES_MS).unref();
    });
    // A command need not read what it is told.
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${JSON.stringify(message)}\n`);
  });
}

function endGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

function passOn(stream: NodeJS.ReadableStream, heard: (line: string) => void): void {
  const splitter = new LineSplitter();
  let left = MOST_LINES;
  stream.on('data', (chunk: Buffer) => {
    if (left <= 0) return;
    for (const line of splitter.push(chunk).slice(0, left)) {
      heard(line);
      left -= 1;
    }
  });
}

/** A server that takes longer does not answer, ms. */
const ANSWER_MS = 10_000;

/**
 * Posts the message as JSON. Slack's webhooks (and Discord's, with `/slack` at the end) show its `text`; so does ntfy with
 * `?template=yes&message={{.text}}`. Tried again where that may help. Gives what went wrong, or null. Never rejects.
 */
async function postWebhook(
  address: string,
  message: Message,
  { backoffMs, signal }: ChannelContext,
): Promise<string | null> {
  if (!/^https?:\/\//i.test(address)) return 'its address begins with neither http:// nor https://';
  const body = JSON.stringify(message);
  let tried = await tryOnce(address, body, AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]));
  for (const pause of backoffMs) {
    if (tried.problem === null || !tried.isWorthAnother || signal.aborted) break;
    await wait(pause, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return 'the supervisor ended first';
    tried = await tryOnce(address, body, AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]));
  }
  return tried.problem;
}

async function tryOnce(
  address: string,
  body: string,
  signal: AbortSignal,
): Promise<{ problem: string | null; isWorthAnother: boolean }> {
  try {
    const headers = { 'content-type': 'application/json', 'user-agent': 'memrl-tui' };
    const response = await fetch(address, { method: 'POST', headers, body, signal });
    await response.body?.cancel();
    if (response.ok) return { problem: null, isWorthAnother: false };
    const isWorthAnother = response.status === 429 || response.status >= 500;
    return { problem: `it answered ${response.status} ${response.statusText}`.trim(), isWorthAnother };
  } catch (error) {
    const cause = (error as Error).cause;
    return { problem: cause instanceof Error ? cause.message : (error as Error).message, isWorthAnother: true };
  }
}

/** Without the path, which is the secret of most webhooks. */
function originOf(webhook: string): string {
  return URL.canParse(webhook) ? new URL(webhook).host : 'address';
}
