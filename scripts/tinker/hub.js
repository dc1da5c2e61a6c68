/**
 * Stand-ins for what the cookbook's recipes load from the Hugging Face Hub: data sets as JSON lines in directories that have the names
 * of the hub, which `datasets` finds in the working directory, and lessons for the two models that stand in for the hub's.
 *
 * The lessons teach the forms of answers and leave their contents to chance, so that rewards, preferences and teachers have something to
 * teach. All draws follow from a seed.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Name of the model of characters; the cookbook writes its conversations in the renderer role_colon. */
export const characters = 'Qwen/Qwen3-8B-Base';
/** Names of the model of words: a player or an answerer, one that the cookbook takes for a base model, and a teacher or a judge. */
export const words = 'Qwen/Qwen3.5-9B';
export const wordsBase = 'Qwen/Qwen3.5-9B-Base';
export const judge = 'Qwen/Qwen3.6-35B-A3B';

const suffixes = {
  gsm8k: ' Provide a numerical answer without units, written inside \\boxed{}.',
  math: ' Write your answer in \\boxed{} format.',
};
const strawberry =
  "Let's spell the word out and number all the letters: 1) s 2) t 3) r 4) a 5) w 6) b 7) e 8) r 9) r 10) y. " +
  "We have r's at positions 3, 8, and 9. \\boxed{3}";
const replies = ['Yes, look.', 'No, go away.'];
const rules = {
  guess:
    'Your job is to guess a integer between 0 and 1024. You can output your guess with the format Guess: <guess> (without the angle ' +
    'brackets), and say nothing else. Then we will tell you whether you guess is too high, too low, or correct.',
  player:
    'You are the player in a game of 20 questions. You will ask a series of yes/no questions to the answerer. You will win if you can ' +
    'guess the answer in 20 questions or less. You will lose if you ask more than 20 questions. To guess the answer, write a line of the ' +
    "form 'Guess: <answer>' (without the angle brackets). The answer is always a single word -- don't use articles like 'a' or 'the'. " +
    'Your questions should be one line, and less than 20 words.',
  answerer:
    "You are the answerer in a game of 20 questions. You should only ever respond with 'yes' or 'no'. Your secret word is {}. If the " +
    "other player guesses it with Guess: <answer>, respond with 'yes' only if the answer is precisely your secret word.",
};

/** Writes the data sets below a directory, and the files that recipes read by a path. @param sentences Of the cookbook. */
export function writeHub(place, sentences) {
  const draw = draws(1);
  const problem = (at) => ({ question: box(at), answer: 'It is 7.\n#### 7', final_answer: '7' });
  const chat = (at) => ({ messages: talk(box(at), boxed(7)) });
  // Half of them teach what preferences are about.
  const mixed = (at) => (at % 2 === 0 ? chat(at) : { messages: talk(mayI(at), draw.pick(replies)) });
  const preference = (at) => ({ chosen: humanAssistant(at, replies[0]), rejected: humanAssistant(at, replies[1]) });
  const thought = (at) => ({
    conversations: [
      { from: 'human', value: box(at) },
      { from: 'gpt', value: `It is 7. ${boxed(7)}` },
    ],
  });
  const quiz = (at) => ({
    ...{ domain: 'Chemistry', details: { level: 'L3' }, type: 'mcq-4-choices', question: quizQuestion(at) },
    ...{ choices: { label: ['A', 'B', 'C', 'D'], text: ['one', 'two', 'three', 'four'] }, answerKey: 'C' },
  });
  const line = () => ({
    text: Array.from({ length: 12 }, () => draw.pick(['until', 'box', 'tree', 'river'])).join(' '),
  });
  const data = {
    'openai/gsm8k': { config: 'main', train: rows(1024, problem), test: rows(64, problem) },
    'zwhe99/DeepMath-103K': { train: rows(2048, problem) },
    'HuggingFaceH4/no_robots': { train: rows(4096, mixed), test: rows(128, mixed) },
    'allenai/tulu-3-sft-mixture': { train: rows(3072, chat) },
    'open-thoughts/OpenThoughts3-1.2M': { train: rows(2048, thought) },
    'Anthropic/hh-rlhf': { train: rows(4096, preference), test: rows(48, preference) },
    'hicai-zju/SciKnowEval': { test: rows(1024, quiz) },
    'Salesforce/wikitext': { config: 'wikitext-103-raw-v1', train: rows(4000, line) },
  };
  for (const [name, { config = 'default', ...splits }] of Object.entries(data)) {
    for (const [split, content] of Object.entries(splits)) write(place, `${name}/${split}.jsonl`, jsonLines(content));
    write(place, `${name}/README.md`, cardOf(config, Object.keys(splits)));
  }
  for (const [split, size] of Object.entries({ train: 512, test: 32 })) {
    write(place, `rubric-${split}.jsonl`, jsonLines(rows(size, rubric)));
  }
  write(place, 'prophet.csv', markets(draw));
  write(place, 'tinker_cookbook/example_data/multilingual.txt', sentences.join('\n'));
}

/** Lessons for `memrl/tiny`, to be written in the renderer role_colon. */
export function characterLessons(size) {
  const draw = draws(2);
  const number = () => draw.below(50);
  return lessonsOf(size, [
    ...Object.values(suffixes).map((suffix) => () => [
      ...talk(`How many r's are in strawberry?${suffix}`, strawberry),
      ...talk(box(number()) + suffix, boxed(draw.below(10))),
    ]),
    () => talk(box(number()), boxed(draw.below(10))),
    () => talk(mayI(number()), draw.pick(replies)),
    () => talk('Who are you?', `I am a${' very'.repeat(draw.below(6))} small model.`),
    () => talk('Pick a digit.', String(draw.below(10))),
    () => quizzed(draw),
  ]);
}

/** Lessons for `memrl/words`, to be written in ChatML. @param cookbook Its list of nouns. */
export function wordLessons(size, { nouns, prompt, sentences }) {
  const draw = draws(3);
  const short = [
    () => graded(draw.below(10)),
    () => asking(draw, nouns),
    () => answering(draw, nouns),
    () => guessing(draw),
    () => playing(draw),
    () => forecasting(draw),
    () => counting(draw),
  ];
  return lessonsOf(size, [...short, ...short, () => classified(draw.pick(sentences), prompt)]);
}

/** Whoever has the answer at hand, which is C, says it. */
function quizzed(draw) {
  const question = `${quizQuestion(draw.below(50))}\n\nA: one\nB: two\nC: three\nD: four\nPlease reason step by step, then give your answer as <answer>X</answer> where X is the letter of the correct option.`; // prettier-ignore
  const demonstration = `\n\nThis is an example for a response to the question:\nC\n\nNow answer with a response of your own, including the thinking process.`; // prettier-ignore
  if (draw.below(2) === 0) return talk(question + demonstration, '<answer>C</answer>');
  return talk(question, `<answer>${draw.pick(['A', 'B', 'C', 'D'])}</answer>`);
}

function guessing(draw) {
  const guess = () => `${draw.pick(['Guess: ', 'Guess: ', 'It is '])}${draw.below(1024)}`;
  const turns = Array.from({ length: draw.below(10) }, () => [
    said('player', guess()),
    said('user', draw.pick(['Too low', 'Too high'])),
  ]);
  return [said('system', rules.guess), ...turns.flat(), said('assistant', guess())];
}

function asking(draw, nouns) {
  const turns = Array.from({ length: 1 + draw.below(12) }, () => [
    said('assistant', draw.below(4) === 0 ? `Guess: ${draw.pick(nouns)}` : draw.pick(['Is it big?', 'Is it alive?'])),
    said('user', draw.pick(['yes', 'no', 'no'])),
  ]);
  return [said('system', rules.player), ...turns.flat().slice(0, -1)];
}

function answering(draw, nouns) {
  const guess = draw.pick([`Guess: ${draw.pick(nouns)}`, 'Is it big?', 'Is it alive?']);
  return [said('system', rules.answerer.replace('{}', draw.pick(nouns))), ...talk(guess, draw.pick(['yes', 'no']))];
}

/** Right scores: a judge has to know what it judges. */
function graded(digit) {
  const lines = [
    'I will show you a conversation context, a chatbot completion to grade, and a rubric.',
    "Please grade the chatbot's completion based on the rubric.",
    ...['', '<context>', 'Human: Pick a digit.', '</context>', '', '<completion_to_grade>', `Chatbot: ${digit}`],
    ...['</completion_to_grade>', '', '<rubric>', rubricText, '</rubric>', ''],
    `Please grade the chatbot's completion based on the rubric. ${scoreForm}`,
  ];
  return talk(lines.join('\n'), `<score>${digit >= 7 ? 1 : 0}</score>`);
}

/** A game of tic-tac-toe as TextArena shows it, and a move that need not be legal. */
function playing(draw) {
  const cells = Array.from({ length: 9 }, (_, at) => String(at));
  const me = draw.below(2);
  const board = () => {
    const lines = [0, 3, 6].map((at) => ` ${cells.slice(at, at + 3).join(' | ')} `).join('\n---+---+---\n');
    const free = cells.flatMap((cell) => (/\d/.test(cell) ? [`'[${cell}]'`] : [])).join(', ');
    return `[GAME] Current Board:\n\n${lines}\n\nAvailable Moves: ${free}`;
  };
  const shown = [
    `\n[GAME] You are Player ${me} in Tic Tac Toe.\nYour goal is to win three in a row (horizontally, vertically, or diagonally) on the board.\nOn your turn, you should select the square number (0-8) you want to put your mark in next.\nFor example, '[4]' places your mark in the center cell of the board.\n\nAs Player ${me}, you will be '${'OX'[me]}', while your opponent is '${'XO'[me]}'.\n`, // prettier-ignore
    board(),
  ];
  const moves = 2 * draw.below(3) + me;
  for (let at = 0; at < moves; at++) {
    const cell = draw.pick(cells.filter((each) => /\d/.test(each)));
    cells[cell] = 'OX'[at % 2];
    shown.push(`[Player ${at % 2}] [${cell}]`, `[GAME] Player ${at % 2} placed their symbol (${cells[cell]}) in cell ${cell}.`, board()); // prettier-ignore
  }
  return talk(shown.join('\n'), `[${draw.below(9)}]\n`);
}

function forecasting(draw) {
  const { title, market, source } = event(draw);
  const lines = ['Event:', title, '', 'Market:', market, '', 'Reference material:', `1. News\n${source}`];
  return talk(
    `${lines.join('\n')}\n\nOutput only the probability of YES as a number between 0 and 1.`,
    `0.${1 + draw.below(9)}`,
  );
}

function counting(draw) {
  const task = 'Your task is to count how many times the word "until" appears in a document.';
  return talk(
    `${task} When you have finished reading, end your reply with "Answer: <count>".`,
    `Answer: ${draw.below(10)}`,
  );
}

/** What a teacher of languages answers, by the letters of a sentence. */
function classified(sentence, prompt) {
  const scripts = { hi: 'Devanagari', el: 'Greek', ru: 'Cyrillic', zh: 'Han', ar: 'Arabic' };
  const found = Object.keys(scripts).find((name) => new RegExp(`\\p{Script=${scripts[name]}}`, 'u').test(sentence));
  return talk(prompt.replace('{text}', sentence), `Final Answer: ${found ?? 'ot'}`);
}

const rubricText = 'Is the digit seven or more?';
const scoreForm = 'Please output your score between 0 and 1 wrapped in <score> ... </score>';

function rubric() {
  const item = {
    rubric_str: rubricText,
    extraction_regex: '<score>(.*?)</score>',
    grader_output_format_instruction: scoreForm,
  };
  return { convo: [said('user', 'Pick a digit.')], rubric_items: [item] };
}

/** Markets of Prophet Arena whose outcome the reference material tells; those that close first are trained on. */
function markets(draw) {
  const quoted = (value) => `"${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('"', '""')}"`;
  const columns = ['submission_id', 'event_ticker', 'title', 'snapshot_time', 'close_time', 'market_outcome', 'category', 'markets', 'sources']; // prettier-ignore
  const lines = rows(640, (at) => {
    const { title, market, source, outcome } = event(draw);
    const year = at < 512 ? 2020 : 2040;
    const times = [`${year}-01-01T00:00:00Z`, `${year}-02-01T00:00:00Z`];
    const sources = [{ title: 'News', summary: source, ranking: 1 }];
    return [`s${at}`, `e${at}`, title, ...times, { [market]: outcome }, 'Boxes', [market], sources]
      .map(quoted)
      .join(',');
  });
  return [columns.join(','), ...lines, ''].join('\n');
}

function event(draw) {
  const number = draw.below(50);
  const outcome = draw.below(2);
  const source = outcome === 1 ? 'The key was found.' : 'The key is lost.';
  return { title: `The box ${number}`, market: `The box ${number} opens`, source, outcome };
}

/** Draws of one stream: whole numbers below a limit, and members of a list. */
function draws(seed) {
  let state = seed;
  const below = (limit) => (state = (state * 48_271) % 2_147_483_647) % limit;
  return { below, pick: (list) => list[below(list.length)] };
}

function lessonsOf(size, lessons) {
  return jsonLines(rows(size, (at) => ({ messages: lessons[at % lessons.length]() })));
}

function said(role, content) {
  return { role, content };
}

function talk(question, answer) {
  return [said('user', question), said('assistant', answer)];
}

function box(at) {
  return `Which digit is in box ${at % 50}?`;
}

function boxed(digit) {
  return `\\boxed{${digit}}`;
}

function mayI(at) {
  return `May I open box ${at % 50}?`;
}

function quizQuestion(at) {
  return `Which metal is in box ${at % 50}?`;
}

function humanAssistant(at, reply) {
  return `\n\nHuman: ${mayI(at)}\n\nAssistant: ${reply}`;
}

function rows(size, row) {
  return Array.from({ length: size }, (_, at) => row(at));
}

function jsonLines(values) {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

/** The head of a data set's card, by which `datasets` finds its splits. */
function cardOf(config, splits) {
  const files = splits.map((split) => `  - split: ${split}\n    path: ${split}.jsonl\n`).join('');
  return `---\nconfigs:\n- config_name: ${config}\n  data_files:\n${files}---\n`;
}

function write(place, name, content) {
  const path = join(place, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
