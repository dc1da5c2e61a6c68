import { countText } from '../../../text/numbers.js';
import type { EvalRunReport, ModeReport } from './report.js';

const shownSamples = 5;
const sampleLength = 200;

/** The report as lines. */
export function evalRunLines(report: EvalRunReport): string[] {
  const modes = Object.entries(report.modes);
  return [
    ...modelLines(report),
    '',
    ...historyLines(report.history),
    ...modes.flatMap(([name, mode]) => ['', ...modeLines(name, mode, report)]),
    ...decompositionLines(modes),
    '',
    ...verdictLines(report.verdict),
  ];
}

function modelLines({ model, settings, reference }: EvalRunReport): string[] {
  const { directory, step, parameters, adapters } = model;
  const at = step === null ? '' : `, step ${step}`;
  const penalty = settings.repetition_penalty === 1 ? '' : ` · repetition penalty ${settings.repetition_penalty}`;
  return [
    `${directory}${at}: ${countText(parameters)} parameters${adapters.length === 0 ? '' : ', frozen'}`,
    ...adapters.map((adapter) => `  ${adapterLine(adapter)}`),
    `  reward ${settings.reward} · hack detector ${settings.detector ?? 'none'} · ${settings.n_samples} completions of up to ${settings.max_completion_length} tokens, temperature ${settings.temperature}, seed ${settings.seed}${penalty}`,
    `  beside ${reference.model === null ? `nothing: ${reference.note}` : reference.note}`,
  ];
}

function adapterLine(adapter: EvalRunReport['model']['adapters'][number]): string {
  const { name, kind, layers } = adapter;
  const size =
    kind === 'mlp'
      ? `${String(adapter['neurons'])} neurons`
      : `LoRA of rank ${String(adapter['rank'])}, alpha ${String(adapter['alpha'])}`;
  return `${name}: ${size}, in layers ${layers.join(' ')}`;
}

function historyLines(history: EvalRunReport['history']): string[] {
  if (history === null) return ['[Reward] none was logged'];
  const { source, final_avg_reward: average, final_max_reward: most, stable_above_09: isStable, last } = history;
  return [
    `[Reward] ${source}`,
    `  final_avg_reward=${average} final_max_reward=${most} stable_above_09=${isStable ? 'yes' : 'no'}`,
    ...last.map(({ step, reward }) => `  step ${step}: ${reward.toFixed(4)}`),
  ];
}

function modeLines(name: string, mode: ModeReport, { settings, reference }: EvalRunReport): string[] {
  const { rewards, hack_freq: hacks, collapse, drift } = mode;
  const figures = Object.entries(rewards).map(([reward, { mean, standard_error: error }]): [string, string] => [
    reward,
    `${mean.toFixed(3)}${error === null ? '' : ` ± ${error.toFixed(3)}`}`,
  ]);
  const rows: [string, string][] = [
    ...figures,
    ...(hacks === null ? [] : [['hack_freq', `${hacks.toFixed(3)} (${settings.detector})`] as [string, string]]),
    ['diversity', diversityText(mode.diversity, settings.n_samples)],
    ['with prompts', diversityText(mode.diversity_with_prompts, settings.n_samples)],
    ...(collapse.flags.length === 0 ? [['collapse', 'no sign of it'] as [string, string]] : []),
    ['distance', distanceText(drift, reference)],
    ...[...collapse.flags, ...(drift?.flags ?? [])].map(({ kind, reason }): [string, string] => [`! ${kind}`, reason]),
  ];
  const width = Math.max(...rows.map(([title]) => title.length));
  return [
    `[${name}]`,
    ...rows.map(([title, text]) => `  ${title.padEnd(width)}  ${text}`),
    ...mode.samples
      .slice(0, shownSamples)
      .map(
        ({ prompt, completion }, index) => `  ${index + 1}. ${oneLine(prompt)} ||| ${truncate(oneLine(completion))}`,
      ),
  ];
}

function distanceText(drift: ModeReport['drift'], { limits, note }: EvalRunReport['reference']): string {
  if (drift === null || limits === null) return `not measured: ${note}`;
  const { kl, perplexity, held_out_perplexity: heldOut } = drift;
  const parts = [
    `KL ${kl.toFixed(2)} nats a token (limit ${limits.kl.toFixed(2)})`,
    `perplexity ${besideLimit(perplexity, limits.perplexity)}`,
    ...shareText(drift.beyond, limits.perplexity),
    ...(heldOut === null ? [] : [`under the held-out model ${besideLimit(heldOut, limits.held_out_perplexity!)}`]),
  ];
  return parts.join(' · ');
}

/** The share of samples above the limit; empty for files of versions without this measure. */
function shareText(
  share: number | undefined,
  { single, beyond }: { single?: number | undefined; beyond?: number | undefined },
) {
  if (share === undefined || single === undefined || beyond === undefined) return [];
  const percent = (value: number) => `${(100 * value).toFixed(0)} %`;
  return [
    `${percent(share)} of the samples above ${single.toFixed(2)} (5 % of single ones before the training; by chance at most ${percent(beyond)})`,
  ];
}

function besideLimit(found: number, { own, limit }: { own: number; limit: number }): string {
  return `${found.toFixed(2)} (${own.toFixed(2)} before the training, limit ${limit.toFixed(2)})`;
}

function diversityText(diversity: ModeReport['diversity'], samples: number): string {
  const { unique_samples: unique, unique_first_sentences: first, avg_jaccard: jaccard, degenerate } = diversity;
  return `unique=${unique}/${samples} first_sentences=${first}/${samples} jaccard=${jaccard.toFixed(3)} degenerate=${degenerate ? 'yes' : 'no'}`;
}

/** A line for each component: its share of the reward in each mode. */
function decompositionLines(modes: readonly (readonly [string, ModeReport])[]): string[] {
  const [, first] = modes[0] ?? [];
  if (first === undefined || first.decomposition.length === 0) return [];
  const width = Math.max(...first.decomposition.map(({ id }) => id.length));
  const lines = first.decomposition.map(({ id, role, scale }, index) => {
    const adds = modes.map(([name, { decomposition }]) => `${name} ${decomposition[index]!.adds.toFixed(3)}`);
    return `  ${id.padEnd(width)}  ${role}, scale ${scale}: ${adds.join(' · ')}`;
  });
  return ['', '[Decomposition] scale times mean, before any maximum of the reward', ...lines];
}

function verdictLines({ verdict, reasons, upstream }: EvalRunReport['verdict']): string[] {
  const differs = upstream === verdict ? '' : `; by small-rl's own rule: ${upstream}`;
  return [`VERDICT: ${verdict}${differs}`, ...reasons.map((reason) => `  - ${reason}`)];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}

function truncate(text: string): string {
  return text.length <= sampleLength ? text : `${text.slice(0, sampleLength)}…`;
}
