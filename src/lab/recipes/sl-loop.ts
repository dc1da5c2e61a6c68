/**
 * `memrl sl_loop`: tinker-cookbook's loop of supervised learning to read and to change. It learns the answers of conversations, with
 * cross-entropy on what the assistant says.
 */
import * as z from 'zod';
import { UserError } from '../../base/user-error.js';
import { key, type Config } from '../config/key.js';
import { logPath, runKeys, seed } from '../config/run-keys.js';
import { float, int, oneOf, orNone, text } from '../config/value-type.js';
import { readRecords } from '../environments/word-problems/records.js';
import { crossEntropy } from '../objectives/objectives.js';
import { trainedKeys } from '../algorithms/rl-settings.js';
import { batchesPerEpoch, epochBatches, someBatches } from '../rollouts/rollouts.js';
import type { Companions } from '../run/companion-files.js';
import type { Means } from '../run/metrics-file.js';
import { restoredState, runTraining, scheduleOf, type Ending, type Run, type Training } from '../run/runner.js';
import type { Datum, TrainingService } from '../service/service.js';
import type { Message, Renderer } from '../text/conversation.js';
import { openRenderer } from '../text/renderers.js';
import type { Tokenizer } from '../text/tokenizer.js';
import { openTrainedModel, type OpenedModel } from '../tinker/client/open-trained.js';
import { cookbookAdam, lrMultiplier, schedules } from '../update/update.js';

export const slLoopKeys = {
  ...trainedKeys,
  path: key(text, '', 'the conversations: JSON lines of {"messages": [{"role": …, "content": …}, …]}, or parquet'),
  renderer_name: key(orNone(text), null, 'role_colon, llama3 or chatml; None: as the chat template of the tokenizer'),
  train_on_what: key(
    oneOf(['all_assistant_messages', 'last_assistant_message']),
    'all_assistant_messages',
    'which messages are learnt',
  ),
  batch_size: key(int(1), 128, 'conversations per step; the loss is the sum over their tokens'),
  max_length: key(int(2), 32_768, 'maximum tokens of a conversation; longer ones are cut'),
  learning_rate: key(float(0), 1e-4, 'learning rate of Adam (betas 0.9, 0.95), at the first step'),
  lr_schedule: key(oneOf(schedules), 'linear', 'learning-rate schedule'),
  num_epochs: key(int(0), 1, 'passes over the conversations'),
  save_every: key(int(0), 20, 'steps between checkpoints, 0 for only the last'),
  log_every: key(int(1), 1, 'steps between rows of metrics.jsonl'),
  log_path: logPath,
  seed,
};
type SlLoopConfig = Config<typeof slLoopKeys>;

/** A changed number of epochs also changes a linear schedule. */
export const slLoopBudget: ReadonlySet<string> = new Set([
  ...'num_epochs base_url save_every log_every'.split(' '),
  ...Object.keys(runKeys),
]);

export async function slLoop(config: SlLoopConfig, run: Run): Promise<Ending> {
  const conversations = await readConversations(config.path);
  const steps = someBatches(config.path, conversations.length, config.batch_size) * config.num_epochs;
  const open = async () => new SlLoop(config, { ...(await openTrainedModel(config, run)), conversations, steps }, run);
  return runTraining(open, scheduleOf(config, { ...config, eval_every: 0 }, steps), run);
}

type SlLoopParts = OpenedModel & { readonly conversations: readonly (readonly Message[])[]; readonly steps: number };

class SlLoop implements Training {
  readonly algorithm = 'sl_loop';
  readonly service: TrainingService;
  readonly companions: Companions | undefined;
  readonly #config: SlLoopConfig;
  readonly #parts: SlLoopParts;
  readonly #renderer: Renderer;
  readonly #batch: (step: number) => (readonly Message[])[];
  #nll = NaN;

  constructor(config: SlLoopConfig, parts: SlLoopParts, run: Run) {
    this.service = parts.service;
    this.companions = parts.companions ?? undefined;
    this.#config = config;
    this.#parts = parts;
    this.#renderer = openRenderer(config.renderer_name, parts.tokenizer);
    this.#batch = epochBatches(parts.conversations, config.batch_size, { seed: config.seed, name: 'conversations' });
    restoredState(run, z.looseObject({}), this.algorithm);
  }

  async step(step: number, row: Means): Promise<void> {
    const { service, tokenizer } = this.#parts;
    const { train_on_what: what, max_length: length } = this.#config;
    const learnt = { onlyLast: what === 'last_assistant_message', length };
    const datums = this.#batch(step).flatMap((messages) => datumOf(messages, this.#renderer, tokenizer, learnt) ?? []);

    if (datums.length === 0) return;

    // Both requests are sent before the first result is waited for.
    const learning = service.forwardBackward(datums, { objective: crossEntropy });
    const stepping = service.optimStep({ ...cookbookAdam, learningRate: this.#learningRate(step) });
    const [{ loss, tokens }] = await Promise.all([learning, stepping]);

    this.#nll = loss / tokens;
    row.addAll({
      num_sequences: datums.length,
      num_tokens: datums.reduce((sum, datum) => sum + datum.prompt.length + datum.tokens.length, 0),
      num_loss_tokens: tokens,
      train_mean_nll: this.#nll,
    });
  }

  progress(step: number) {
    const perEpoch = batchesPerEpoch(this.#parts.conversations.length, this.#config.batch_size);
    const rate = this.#learningRate(step);
    const epoch = Math.floor(step / perEpoch);
    return { epoch, progress: step / this.#parts.steps, learning_rate: rate, 'optim/lr': rate };
  }

  ended(): Promise<void> {
    return this.#parts.close();
  }

  words(): string {
    return `nll ${this.#nll.toFixed(4)}`;
  }

  #learningRate(step: number): number {
    return this.#config.learning_rate * lrMultiplier(this.#config.lr_schedule, step, this.#parts.steps);
  }
}

/** A conversation with weight 1 on what is learnt; null when it is cut before that. */
function datumOf(
  messages: readonly Message[],
  renderer: Renderer,
  tokenizer: Tokenizer,
  { onlyLast, length }: { readonly onlyLast: boolean; readonly length: number },
): Datum | null {
  const pieces = renderer.pieces(messages, onlyLast);
  const last = pieces.findLastIndex(({ isAnswer }) => isAnswer);
  const tokens: number[] = [];
  const weights: number[] = [];
  pieces.forEach(({ text: piece, isAnswer }, index) => {
    // Answers are encoded apart from the surrounding text, as the model generates them.
    const ids = tokenizer.encode(piece);
    tokens.push(...ids);
    weights.push(...ids.map(() => Number(isAnswer && (!onlyLast || index === last))));
  });
  const start = weights.indexOf(1);
  if (start < 1 || start >= length) return null;
  return {
    prompt: Int32Array.from(tokens.slice(0, start)),
    tokens: Int32Array.from(tokens.slice(start, length)),
    weights: weights.slice(start, length),
  };
}

const Conversation = z.looseObject({
  messages: z
    .array(z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() }))
    .refine((messages) => messages.some(({ role }) => role === 'assistant'), 'the assistant says nothing'),
});

async function readConversations(path: string): Promise<(readonly Message[])[]> {
  return (await readRecords(path)).map((record, index) => {
    const parsed = Conversation.safeParse(record);
    if (parsed.success) return parsed.data.messages;
    throw new UserError(
      `Row ${index + 1} of ${path} is no conversation: ${parsed.error.issues[0]!.message}.`,
      'Each row must have `messages` with a `role` (system, user, assistant) and a `content`.',
    );
  });
}
