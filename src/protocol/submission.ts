import { SharedParts } from '../spec/plan-text.js';
import { type ClientMessage, PAGE } from './message.js';

type Submission = Omit<Extract<ClientMessage, { type: 'submit' }>, 'type' | 'more'>;

/**
 * A submission as a sequence of messages. Its runs come page by page, each encoded on demand, as encoding fifty thousand takes half
 * a second; a short submission is a single message.
 */
export function* submission({ plan, ...rest }: Submission): Generator<ClientMessage> {
  const { runs, ...frame } = plan;
  const isShort = runs.length <= PAGE;
  if (!isShort) yield* pages(rest.request, runs);
  yield { type: 'submit', ...rest, plan: { ...frame, runs: isShort ? runs : [] }, more: false };
}

function* pages(request: number, runs: Submission['plan']['runs']): Generator<ClientMessage> {
  const parts = new SharedParts();
  for (let from = 0; from < runs.length; from += PAGE) {
    yield { type: 'page', request, page: parts.pageOf(runs.slice(from, from + PAGE)), of: runs.length };
  }
}
