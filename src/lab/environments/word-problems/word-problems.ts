import type { Rng } from '../../rng.js';
import { count, flag, fraction } from '../../rewards/params.js';
import type { TextEnvironment } from '../../own-modules.js';
import type { Tokenizer } from '../../text/tokenizer.js';
import { r1Answer, r1Prompt, r1Response } from './r1.js';

export const wordProblemParams = {
  max: count.default(20),
  steps: count.default(2),
  mistakes: fraction.default(0.5),
  instructions: flag.default(false),
};
type WordProblemParams = {
  readonly max: number;
  readonly steps: number;
  readonly mistakes: number;
  readonly instructions: boolean;
};

const people = ['Ann', 'Ben', 'Eva', 'Tom', 'Mia', 'Leo', 'Zoe', 'Max'];
const things = ['nuts', 'figs', 'eggs', 'pens', 'cups', 'keys', 'coins', 'books'];
const verbs = { plus: ['buys', 'finds', 'gets', 'wins'], minus: ['eats', 'loses', 'sells', 'drops'] };

/**
 * Word problems of addition and subtraction, in the template of R1: from 1 to `steps` changes of a number of things,
 * none above `max` or below 0.
 *
 * Their right answers are the corpus on which a new model is pretrained (`memrl sft`), with a share of `mistakes`:
 * half of these lack the answer tags, half have a wrong last number. A model that has learnt the corpus is right as
 * often as the corpus, and reinforcement learning can then teach it which of these forms is rewarded.
 */
export function wordProblems(
  { max, steps, mistakes, instructions }: WordProblemParams,
  tokenizer: Tokenizer,
): TextEnvironment {
  const respond = r1Response(tokenizer);
  return {
    name: 'word_problems',
    task: (_, random) => {
      const problem = problemOf(random, max, 1 + random.below(steps));
      // The id is the prompt: the same question is the same task.
      return {
        id: problem.id,
        prompt: r1Prompt(problem.question, instructions),
        gold: { answer: problem.answer, taught: taughtOf(problem, mistakes, random) },
      };
    },
    respond: (task, turns) => respond({ ...task, gold: (task.gold as Gold).answer }, turns),
    answer: ({ gold }) => (gold as Gold).taught,
  };
}

type Gold = { readonly answer: number; readonly taught: string };
type WordProblem = {
  readonly id: string;
  readonly question: string;
  readonly thought: string;
  readonly answer: number;
};

function problemOf(random: Rng, max: number, steps: number): WordProblem {
  const [person, thing] = [oneOf(people, random), oneOf(things, random)];
  let now = random.below(max + 1);
  const told = [`has ${now} ${thing}`];
  const thought: string[] = [];
  for (let step = 0; step < steps; step++) {
    const isMore = now < max && (now === 0 || random.next() < 0.5);
    const by = 1 + random.below(isMore ? max - now : now);
    const next = isMore ? now + by : now - by;
    told.push(`${oneOf(verbs[isMore ? 'plus' : 'minus'], random)} ${by}`);
    thought.push(`${now}${isMore ? '+' : '-'}${by}=${next}`);
    now = next;
  }
  const question = `${person} ${told.slice(0, -1).join(', ')} and ${told.at(-1)!}. How many?`;
  return { id: `${person} ${told.join(' ')}`, question, thought: thought.join(','), answer: now };
}

function taughtOf({ thought, answer }: WordProblem, mistakes: number, random: Rng): string {
  const drawn = random.next();
  if (drawn >= mistakes) return r1Answer(thought, String(answer));
  if (drawn < mistakes / 2) return `${thought}</think>${answer}`;
  const slip = answer + (answer === 0 || random.next() < 0.5 ? 1 : -1);
  return r1Answer(thought, String(slip));
}

function oneOf(texts: readonly string[], random: Rng): string {
  return texts[random.below(texts.length)]!;
}
