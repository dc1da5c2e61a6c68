/** The model of `openPolicy` in `memrl-tui/lab`: the four operations of training, in texts. */
import { UserError } from '../base/user-error.js';
import { shapeNamed } from './engine/model-shape.js';
import { characterFiles, characterTokenizer } from './hugging-face/character-tokenizer.js';
import { importanceSampling } from './objectives/objectives.js';
import { objectiveFrom } from './objectives/own-objective.js';
import type { OwnObjective, Policy, PolicyOptions, TrainingExample } from './own-modules.js';
import { writeTexts } from './probes/own-probe.js';
import { writeCompanions } from './run/companion-files.js';
import { makeDirectory } from './run/make-directory.js';
import { EngineService } from './service/engine-service.js';
import { directoryIn, openModel, textTokenizer } from './service/open-model.js';
import type { Datum } from './service/service.js';
import type { Tokenizer } from './text/tokenizer.js';
import { cookbookAdam } from './update/update.js';

/** @throws UserError when the model is neither a shape nor a directory, or has no tokenizer. */
export async function openPolicy({ model = 'micro', seed = 0, threads = 1 }: PolicyOptions): Promise<Policy> {
  const directory = directoryIn(model);
  if (directory === null && shapeNamed(model) === null) {
    throw new UserError(`There is no model ${model}.`, 'Give micro, tiny, or the directory of a saved model.');
  }
  const { tokenizer, files } =
    directory === null ? { tokenizer: characterTokenizer, files: characterFiles } : textTokenizer(directory);
  const source = { model_name: model, load_checkpoint_path: directory, seed, engine: 'wasm', threads } as const;
  const quiet = { log: () => undefined, environment: {} };
  const fresh = { vocabulary: tokenizer.size };
  const service = new EngineService(await openModel({ ...source, resumed: null, tokenizer, fresh }, quiet));
  return {
    sample: (prompts, how) => writeTexts(service, tokenizer, prompts, how),
    forwardBackward: (examples, objective) => learn(service, datumsOf(examples, tokenizer), objective),
    optimStep: async (settings) => {
      const { gradientNorm } = await service.optimStep({ ...cookbookAdam, ...settings });
      return { gradientNorm: gradientNorm! };
    },
    save: async (to) => {
      makeDirectory(to, 'directory');
      await service.saveState(to);
      writeCompanions(to, { shape: service.engine.shape, files });
    },
  };
}

async function learn(service: EngineService, datums: readonly Datum[], objective: OwnObjective = importanceSampling) {
  const loss = { objective: objectiveFrom(objective, 'The objective'), divisor: datums.length };
  const { loss: value, entropy, tokens } = await service.forwardBackward(datums, loss);
  return { loss: value, entropy: entropy / tokens };
}

/** Examples of one prompt share its tokens, so that the engine computes them once for neighbours. */
function datumsOf(examples: readonly TrainingExample[], tokenizer: Tokenizer): Datum[] {
  const prompts = new Map<string, Int32Array>();
  const encoded = (text: string) => {
    const known = prompts.get(text) ?? Int32Array.from(tokenizer.encode(text));
    prompts.set(text, known);
    return known;
  };
  return examples.map(({ prompt, tokens, logprobs, advantage }) => ({
    prompt: encoded(prompt),
    tokens,
    logprobs,
    advantages: typeof advantage === 'number' ? Float64Array.from(tokens, () => advantage) : advantage,
    weights: Float32Array.from(tokens, () => 1),
  }));
}
