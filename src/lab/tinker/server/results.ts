/** How results are written, for clients that read JSON and for those that read protobuf. */
import {
  writeForwardBackwardOutput,
  writeSampleResponse,
  type ForwardBackwardOutput,
  type SampleResponse,
} from '../protocol/messages.js';
import type { Result } from './futures.js';

export function plainResult(value: unknown): Result {
  return { kind: 'done', size: 200, json: () => value, proto: null };
}

export function learntResult(output: ForwardBackwardOutput): Result {
  const json = () => ({
    type: 'forward_backward',
    loss_fn_output_type: 'ArrayRecord',
    loss_fn_outputs: output.logprobs.map((logprobs) => ({
      logprobs: { data: Array.from(logprobs), dtype: 'float32', shape: [logprobs.length] },
    })),
    metrics: output.metrics,
  });
  const size = output.logprobs.reduce((sum, { byteLength }) => sum + byteLength + 100, 0);
  return { kind: 'done', size, json, proto: () => writeForwardBackwardOutput(output) };
}

export function sampledResult(response: SampleResponse): Result {
  const { sequences, promptLogprobs, topPromptLogprobs: top } = response;
  const json = () => ({
    type: 'sample',
    sequences: sequences.map(({ stopReason, tokens, logprobs }) => ({
      stop_reason: stopReason,
      tokens: Array.from(tokens),
      logprobs: Array.from(logprobs),
    })),
    prompt_logprobs: promptLogprobs && Array.from(promptLogprobs, (lp) => (Number.isNaN(lp) ? null : lp)),
    topk_prompt_logprobs: top && rowsOf(top.k, top.tokens.length / top.k, (at) => [top.tokens[at], top.logprobs[at]]),
  });
  const size = sequences.reduce((sum, { tokens }) => sum + 8 * tokens.length + 100, promptLogprobs?.byteLength ?? 0);
  return { kind: 'done', size, json, proto: () => writeSampleResponse(response) };
}

/** Rows of `k` cells. The first row is null, because nothing comes before the first token. */
function rowsOf<T>(k: number, rows: number, cell: (at: number) => T): (T[] | null)[] {
  return Array.from({ length: rows }, (_, row) =>
    row === 0 ? null : Array.from({ length: k }, (__, rank) => cell(row * k + rank)),
  );
}
