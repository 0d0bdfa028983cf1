import { InvalidArgumentError } from 'commander';

/** Parsers of options; what they throw, commander says in one line. */

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
