/**
 * Metrics of the same kind for several modes, such as `routing_eval/both/reward` and `routing_eval/retain_only/reward`: they share
 * their last part, and differ in the part before it.
 */
export type ModeFamily = {
  /** The part before the mode: `routing_eval`. */
  readonly prefix: string;
  readonly modes: readonly string[];
  /** Last parts that at least two modes have. */
  readonly metrics: readonly string[];
};

/** With more modes bars would be indistinguishable; they are probably layers or other numbered parts. */
const MOST_MODES = 8;
const MOST_METRICS = 12;
const MOST_FAMILIES = 6;

/** The families among the names of metrics, largest first; modes and metrics in the order in which they were written. */
export function modeFamilies(written: Iterable<string>): ModeFamily[] {
  const prefixes = new Map<string, Map<string, Set<string>>>();
  for (const name of written) {
    const parts = name.split('/');
    const [metric, mode] = [parts.pop()!, parts.pop()];
    const prefix = parts.join('/');
    if (mode === undefined || prefix === '') continue;
    const ofPrefix = prefixes.get(prefix) ?? new Map<string, Set<string>>();
    prefixes.set(prefix, ofPrefix.set(metric, (ofPrefix.get(metric) ?? new Set<string>()).add(mode)));
  }
  return [...prefixes]
    .flatMap(([prefix, ofPrefix]) => familyOf(prefix, ofPrefix) ?? [])
    .sort((a, b) => b.metrics.length * b.modes.length - a.metrics.length * a.modes.length)
    .slice(0, MOST_FAMILIES);
}

function familyOf(prefix: string, metrics: ReadonlyMap<string, ReadonlySet<string>>): ModeFamily | null {
  const shared = [...metrics].filter(([, modes]) => modes.size > 1);
  const modes = new Set(shared.flatMap(([, ofMetric]) => [...ofMetric]));
  if (shared.length === 0 || modes.size > MOST_MODES) return null;
  return { prefix, modes: [...modes], metrics: shared.slice(0, MOST_METRICS).map(([metric]) => metric) };
}

/** small-rl's colours of modes and baselines, where `baseline` is the one that is none of the others. */
const known: readonly (readonly [name: string, colour: string])[] = [
  ['reward_penalty', '#8B4513'],
  ['retain_penalty', '#17BECF'],
  ['forget_only', '#D65F5F'],
  ['retain_only', '#59A14F'],
  ['filter', '#9B59B6'],
  ['both', '#E8853B'],
  ['baseline', '#4878CF'],
];

/**
 * A colour for each name: small-rl's if a word of the name is in its list, else the next of the palette; colours repeat only when
 * they run out.
 */
export function coloursOf(names: readonly string[], palette: readonly string[]): ReadonlyMap<string, string> {
  const colours = new Map<string, string>();
  for (const name of names) {
    // Names of parameters do not count as names of settings: `baseline=filter`.
    const words = name.replace(/\b\w+=/g, '').split(/[^A-Za-z0-9_]+/);
    const own = known.find(([word]) => words.some((each) => each === word || each.startsWith(`${word}_`)));
    if (own !== undefined && ![...colours.values()].includes(own[1])) colours.set(name, own[1]);
  }
  const free = palette.filter((colour) => ![...colours.values()].includes(colour));
  names
    .filter((name) => !colours.has(name))
    .forEach((name, index) =>
      colours.set(name, (free.length > 0 ? free : palette)[index % (free.length || palette.length)]!),
    );
  return colours;
}
