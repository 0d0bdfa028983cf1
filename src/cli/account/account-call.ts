import type { ServiceClient } from '../../client/index.js';
import type { Settings } from '../../config/index.js';
import type { CliContext } from '../context.js';
import { openService } from '../wiring/service.js';
import { accountError } from './account-error.js';
import { answerPlace, type AnswerOptions } from './answer-place.js';

export interface AccountCall<T> {
  readonly settings: Settings;
  readonly options: AnswerOptions;
  /** Of the file, without time. */
  readonly name: string;
  /** For people: "The API key". */
  readonly what: string;
  /** What to look at before it is tried again, where the outcome is unknown. */
  readonly check: string;
  readonly call: (service: ServiceClient) => Promise<T>;
  readonly text: (answer: T) => string;
}

/** One account operation, tried once: a place for its secret answer, the call, the answer. */
export async function callAccount<T>(context: CliContext, asked: AccountCall<T>): Promise<void> {
  const { settings, options, name, what, check } = asked;
  const place = await answerPlace(context, options, { home: settings.towlineHome, name, what, check });
  const service = openService(settings);
  let answer: T;
  try {
    answer = await asked.call(service);
  } catch (error) {
    await place.drop();
    throw accountError(error, check);
  } finally {
    service.close();
  }
  await place.write(`${asked.text(answer)}\n`);
}

export const asJson = (answer: unknown): string => JSON.stringify(answer, null, 2);
