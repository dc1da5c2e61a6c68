import { setTimeout as wait } from 'node:timers/promises';
import type { Message } from './notification.js';

type WebhookContext = {
  /** Waits between the tries, ms; there is one try more than waits. */
  backoffMs: readonly number[];
  signal: AbortSignal;
  patienceMs?: number;
};

/** A server that takes longer does not answer, ms. */
const PATIENCE_MS = 10_000;

/**
 * Posts the message as JSON. Slack's webhooks (and Discord's, with `/slack` at the end) show its `text`; so does ntfy with
 * `?template=yes&message={{.text}}`. Tried again where that may help. Gives what went wrong, or null. Never rejects.
 */
export async function postWebhook(
  address: string,
  message: Message,
  { backoffMs, signal, patienceMs = PATIENCE_MS }: WebhookContext,
): Promise<string | null> {
  if (!/^https?:\/\//i.test(address)) return 'its address begins with neither http:// nor https://';
  const body = JSON.stringify(message);
  let tried = await tryOnce(address, body, AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]));
  for (const pause of backoffMs) {
    if (tried.problem === null || !tried.isWorthAnother || signal.aborted) break;
    await wait(pause, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return 'the supervisor ended first';
    tried = await tryOnce(address, body, AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]));
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
