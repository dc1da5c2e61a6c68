/** A value at the end of a sentence, behind which another begins: `Step: 19000. Mean Reward: 0.250.` */
const ended = /[:=] ?[^:=]{0,60}[\d)\]s%]\. +[A-Z]/;
const between = /(?<=[\w)\]%])\. +(?=[A-Z])|\.$/;
/** `Step... (19 | Loss: 0.25)`. */
const ellipsis = /^([A-Za-z]{2,20})\.{2,3} ?\(/;

/** `Policy #0 lag: (`. */
const numbered = /\b([A-Z][a-z]+) #(\d+)(?= [a-z]+: ?\()/;

/** A line of several short sentences as one, whose parts are separated by bars; sentences without a value are left out. */
export function inOneSentence(text: string): string {
  if (!text.includes('. ') && !text.includes('..')) return text;
  if (ellipsis.test(text)) return text.replace(ellipsis, '$1 ');
  if (!ended.test(text)) return text;
  const parts = text
    .replace(numbered, '$1-$2')
    .split(between)
    .filter((part) => /[:=(]| \d/.test(part));
  return parts.length < 2 ? text : parts.join(' | ');
}
