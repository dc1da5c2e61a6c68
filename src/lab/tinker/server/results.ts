/** Encodes results, for clients that read JSON and for those that read protobuf. */
import {
  emptyCell,
  writeForwardBackwardOutput,
  writeSampleResponse,
  type ForwardBackwardOutput,
  type PromptTensor,
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
    loss_fn_outputs: output.logprobs.map((logprobs, at) => {
      const trailing = output.trailing?.[at] ?? [];
      const length = trailing.reduce((left, size) => left / size, logprobs.length);
      return { logprobs: { data: Array.from(logprobs), dtype: 'float32', shape: [length, ...trailing] } };
    }),
    metrics: output.metrics,
  });
  const size = output.logprobs.reduce((sum, { byteLength }) => sum + byteLength + 100, 0);
  return { kind: 'done', size, json, proto: () => writeForwardBackwardOutput(output) };
}

export function sampledResult(response: SampleResponse): Result {
  const { sequences, promptLogprobs, topPromptLogprobs: top } = response;
  const { targetPromptLogprobs: targets, promptAltTokens: alternatives } = response;
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
    ...(targets && { target_prompt_logprobs: tensorData(targets) }),
    ...(alternatives && {
      prompt_alt_tokens: { tokens: tensorData(alternatives.tokens), logprobs: tensorData(alternatives.logprobs) },
    }),
  });
  const bytes = (rows: TopLogprobs | null) => 8 * (rows?.tokens.length ?? 0);
  const size = sequences.reduce(
    (sum, { tokens, topLogprobs }) => sum + 8 * tokens.length + bytes(topLogprobs) + 100,
    (promptLogprobs?.byteLength ?? 0) +
      bytes(top) +
      (targets?.values.byteLength ?? 0) +
      2 * (alternatives?.tokens.values.byteLength ?? 0),
  );
  return { kind: 'done', size, json, proto: () => writeSampleResponse(response) };
}

function tensorData({ values, shape, sparse }: PromptTensor) {
  return {
    data: Array.from(values, (value) => (Number.isNaN(value) ? null : value)),
    dtype: values instanceof Float32Array ? 'float32' : 'int64',
    shape,
    ...(sparse && { sparse_crow_indices: sparse.rows, sparse_col_indices: sparse.columns }),
  };
}

/** Rows of pairs of a token and its log-probability; null for a row that is empty. */
function rowsOf({ tokens, logprobs, k }: TopLogprobs): ([number, number][] | null)[] {
  return Array.from({ length: tokens.length / k }, (_, row) => {
    const cells = Array.from({ length: k }, (__, rank) => row * k + rank);
    return logprobs[cells[0]!] === emptyCell ? null : cells.map((at) => [tokens[at]!, logprobs[at]!]);
  });
}
