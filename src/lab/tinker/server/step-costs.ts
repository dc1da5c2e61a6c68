/** Logs the time of a training step on this machine, with an alternative where it is too long. */
import { UserError } from '../../../base/user-error.js';
import { durationWords } from '../../../text/duration.js';
import { parameterCount } from '../../engine/layout.js';
import type { ComputationMethods } from './computation.js';
import type { ModelCatalogue } from './model-catalogue.js';
import { usualStep } from './step-time.js';

/** A step that takes longer is too slow to train with. */
const SLOW_MS = 5000;
/** Smaller models are not measured when they are made: their steps are fast everywhere. */
const FAST_PARAMETERS = 1_000_000;

const step = `a training step of ${usualStep.sequences} × ${usualStep.tokens} tokens`;
/** The alternative that always exists: Tinker's own service, at the SDK's address. */
const elsewhere =
  'the same client on a bigger service: tinker.ServiceClient(base_url="https://tinker.thinkingmachines.dev/services/tinker-prod")';

type Models = Pick<ModelCatalogue, 'names' | 'shapeOf'>;
type Cost = { readonly name: string; readonly ms: number };

export class StepCosts {
  readonly #catalogue: Models;
  readonly #computing: Pick<ComputationMethods, 'stepTime'>;
  readonly #log: (line: string) => void;

  constructor(catalogue: Models, computing: Pick<ComputationMethods, 'stepTime'>, log: (line: string) => void) {
    this.#catalogue = catalogue;
    this.#computing = computing;
    this.#log = log;
  }

  /** Logs the time of a step of each model. */
  async logAll(): Promise<void> {
    const costs = await this.#costs();
    if (costs.length === 0) return;
    const each = costs.map(({ name, ms }) => `${name} ${timeWords(ms)}`);
    this.#log(`${step} takes about: ${each.join(' · ')}`);
    for (const cost of costs)
      if (cost.ms > SLOW_MS) this.#log(`${cost.name} is slow here. ${alternativeText(cost, costs)}`);
  }

  /**
   * Logs a warning when the steps of a new model will be slow.
   * @param id Id of the model.
   * @param base Name of its base model.
   */
  async logIfSlow(id: string, base: string): Promise<void> {
    if (parameterCount(this.#catalogue.shapeOf(base)) < FAST_PARAMETERS) return;
    const costs = await this.#costs();
    const own = costs.find(({ name }) => name === base);
    if (own === undefined || own.ms <= SLOW_MS) return;
    this.#log(`model ${id}: ${step} will take about ${timeWords(own.ms)} here. ${alternativeText(own, costs)}`);
  }

  /**
   * Costs of all models, the smallest first, so that the kernels are optimised by the time large ones are measured a
   * few times.
   */
  async #costs(): Promise<Cost[]> {
    const sizes = await Promise.all(
      this.#catalogue.names.map(async (name) => {
        const size = await measureOrNull(async () => parameterCount(this.#catalogue.shapeOf(name)));
        return { name, size: size ?? Infinity };
      }),
    );
    const costs: Cost[] = [];
    for (const { name } of sizes.toSorted((a, b) => a.size - b.size)) {
      const ms = await measureOrNull(() => this.#computing.stepTime(name));
      if (ms !== null) costs.push({ name, ms });
    }
    return costs;
  }
}

/**
 * The measured value; null when the model cannot be read (its first use says why), or the service has ended meanwhile.
 */
async function measureOrNull(measure: () => Promise<number>): Promise<number | null> {
  try {
    return await measure();
  } catch (error) {
    if (error instanceof UserError) return null;
    throw error;
  }
}

/** The largest model that is fast enough, which is the one that takes longest. */
function alternativeText({ ms }: Cost, costs: readonly Cost[]): string {
  const fast = costs.filter((other) => other.ms <= Math.min(ms, SLOW_MS)).toSorted((a, b) => b.ms - a.ms)[0];
  const smaller = fast === undefined ? '' : `base_model="${fast.name}" (${timeWords(fast.ms)} a step), or `;
  return `Use ${smaller}${elsewhere}`;
}

function timeWords(ms: number): string {
  return ms < 1000 ? `${Number(ms.toPrecision(2))} ms` : durationWords(ms);
}
