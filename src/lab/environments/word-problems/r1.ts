/**
 * The template of DeepSeek-R1 (Guo et al. 2025, arXiv 2501.12948) as RL_Practice uses it: the policy reasons inside
 * `<think>`, which the prompt opens, and answers inside `<answer>`. The reward is 1 for the right answer in the only
 * answer block, and 0 otherwise.
 */
import type { TextEnvironment } from '../../own-modules.js';
import type { Tokenizer } from '../../text/tokenizer.js';
import { sameAnswer } from './answers.js';

const instructions =
  'You solve problems of mathematics. Reason inside <think> </think>, and then write the final answer, and nothing else, inside <answer> </answer>: <think> your reasoning </think> <answer> your answer </answer>\n\n';

/** @param isInstructed Whether the template is explained first, for a model that was not trained on it. */
export function r1Prompt(question: string, isInstructed: boolean): string {
  return `${isInstructed ? instructions : ''}Question: ${question}\nResponse: <think>`;
}

/** A well-formed answer to that prompt: thought and answer in their tags. */
export function r1Answer(thought: string, answer: string): string {
  return `${thought}</think><answer>${answer}</answer>`;
}

const block = /<answer>(.*?)<\/answer>/gs;
const wellFormed = /<\/think>\s*<answer>((?!<answer>).)*<\/answer>\s*$/s;

/**
 * `answer`: the text of the only `<answer>…</answer>`, trimmed; null when there is none, or more than one. `isFormed`:
 * whether the thought is closed, and an answer block ends the text.
 */
export function r1Parts(text: string): { readonly answer: string | null; readonly isFormed: boolean } {
  const found = [...text.matchAll(block)];
  return { answer: found.length === 1 ? found[0]![1]!.trim() : null, isFormed: wellFormed.test(text) };
}

/**
 * The reward, 0 or 1. Measurements: `correct`; `tag`, exactly one answer block; `tag_correct`, the whole format;
 * `think_len`, tokens before the first `</think>`, 0 without one.
 */
export function r1Response(tokenizer: Tokenizer): TextEnvironment['respond'] {
  return ({ gold }, [turn]) => {
    const { text } = turn!;
    const { answer, isFormed } = r1Parts(text);
    const correct = Number(answer !== null && sameAnswer(String(gold), answer));
    const end = text.indexOf('</think>');
    const think_len = end < 0 ? 0 : tokenizer.encode(text.slice(0, end)).length;
    return {
      reward: correct,
      metrics: { correct, tag: Number(answer !== null), tag_correct: Number(isFormed), think_len },
    };
  };
}
