/** What a bar of tqdm says. `etaSeconds`: null: it does not know yet. `rate`: `2.5it/s`. `rest`: what the program adds. */
export type Bar = { done: number; total: number; etaSeconds: number | null; rate: string | null; rest: string };

const bar =
  /\d+%\|[^|]*\| ?(\d+)\/(\d+) \[[\d:]+<([\d:?]+|\d+ days?, [\d:]+)(?:, *(\?|[\d.]+)?((?:[a-zA-Z]+\/s|s\/[a-zA-Z]+)))?(?:, (.*))?\]/;

/** The bar in a line; null: none, or one that counts bytes. */
export function barIn(line: string): Bar | null {
  if (!line.includes('%|')) return null;
  const [, done, total, eta, number, unit, rest] = bar.exec(line) ?? [];
  if (total === undefined || Number(total) === 0) return null;
  const rate = number === undefined || number === '?' ? null : `${number}${unit}`;
  return { done: Number(done), total: Number(total), etaSeconds: secondsOf(eta!), rate, rest: rest ?? '' };
}

const epoch = /(?:^|[\s[(])epoch[ :#]*(\d+)\s*(?:\/|of)\s*(\d+)/i;

/** `Epoch 3/10`: the one it is in, and of how many; null: the line says nothing of the kind. */
export function epochIn(line: string): { epoch: number; of: number } | null {
  const [, at, of] = epoch.exec(line) ?? [];
  return at === undefined || Number(of) === 0 ? null : { epoch: Number(at), of: Number(of) };
}

/** `1:02:03`, `02:03`, `1 day, 2:03:04`; null: it is unknown. */
export function secondsOf(text: string): number | null {
  const [, days, clock] = /^(?:(\d+) days?, )?([\d:]+)$/.exec(text) ?? [];
  if (clock === undefined) return null;
  return clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) + 86_400 * Number(days ?? 0);
}
