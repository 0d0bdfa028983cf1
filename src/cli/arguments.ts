import { InvalidArgumentError } from 'commander';
import { QUEUES, type Queue } from '../protocol/task-queues.js';

/** Parsers of options; commander prints what they throw in one line. */

export const oneOfArgument =
  <const W extends readonly string[]>(words: W) =>
  (text: string): W[number] => {
    const word = words.find((candidate) => candidate === text);
    if (word === undefined) throw new InvalidArgumentError(`Use one of ${words.join(', ')}.`);
    return word;
  };

export const numberArgument =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,9}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) throw new InvalidArgumentError(`Use a number from ${least} to ${most}.`);
    return value;
  };

export const wholeNumberArgument =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most))
      throw new InvalidArgumentError(`Use a whole number from ${least} to ${most}.`);
    return value;
  };

/** Comma-separated task queues, each once. */
export function queuesArgument(text: string): readonly Queue[] {
  const names = text.split(',').map((name) => name.trim());
  const queues = QUEUES.filter((queue) => names.includes(queue));
  if (queues.length !== names.length)
    throw new InvalidArgumentError(`Use some of ${QUEUES.join(', ')}, comma-separated.`);
  return queues;
}
