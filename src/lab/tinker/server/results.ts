/** How results are written, for clients that read JSON and for those that read protobuf. */
import {
  emptyCell,
  writeForwardBackwardOutput,
  writeSampleResponse,
  type ForwardBackwardOutput,
  type SampleResponse,
  type TopLogprobs,
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
    sequences: sequences.map(({ stopReason, tokens, logprobs, topLogprobs }) => ({
      stop_reason: stopReason,
      tokens: Array.from(tokens),
      logprobs: Array.from(logprobs),
      ...(topLogprobs !== null && { topk_logprobs: rowsOf(topLogprobs) }),
    })),
    prompt_logprobs: promptLogprobs && Array.from(promptLogprobs, (lp) => (Number.isNaN(lp) ? null : lp)),
    topk_prompt_logprobs: top && rowsOf(top),
  });
  const bytes = (rows: TopLogprobs | null) => 8 * (rows?.tokens.length ?? 0);
  const size = sequences.reduce(
    (sum, { tokens, topLogprobs }) => sum + 8 * tokens.length + bytes(topLogprobs) + 100,
    (promptLogprobs?.byteLength ?? 0) + bytes(top),
  );
  return { kind: 'done', size, json, proto: () => writeSampleResponse(response) };
}

/** Rows of pairs of a token and its log-probability; null for a row that is empty. */
function rowsOf({ tokens, logprobs, k }: TopLogprobs): ([number, number][] | null)[] {
  return Array.from({ length: tokens.length / k }, (_, row) => {
    const cells = Array.from({ length: k }, (__, rank) => row * k + rank);
    return logprobs[cells[0]!] === emptyCell ? null : cells.map((at) => [tokens[at]!, logprobs[at]!]);
  });
}
