/** The query language in a few lines, below the help of each verb that takes one. */
export const queryHelp = `
Runs are chosen by name (of a run, sweep/run, or a sweep), or by a query:
  dense A_*_s0              a part of the name; * stands for anything
  status:failed,lost        also group: subgroup: sweep: name: slot: gpu: class:oom health:stalled
  'N>=256' lr=1e-3 k!=v     a parameter, or else the last value of a metric
  'attempt>1' 'age>2h'      also priority and progress
  not x   x y   x or y      parentheses group: '(A or B) not status:done'
  all                       every run of every sweep; nothing at all is refused where runs are changed
  'subgroup:"two words"'    quotes keep blanks and signs (and the shell wants its own around them)`;
