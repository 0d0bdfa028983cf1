import type { LiveSettings } from '../settings.js';
import type { Chance } from '../random.js';
import { liveNumber } from '../transactions/transactions.js';
import { type Deliveries, withNumbersAsText } from './deliveries.js';
import type { Stream } from './message.js';

/** The report of a change of one transaction or account. */
interface News {
  readonly event: string;
  readonly reference: string;
  /** The status that the data reports, for people who read deliveries. */
  readonly status: string;
  readonly data: object;
}

/** Both inside `database.write`; they give the ids of the jobs that deliver. */
export interface Announce {
  /** To the callback URL of one operation. */
  callback(news: News & { readonly url: string }): readonly number[];
  /** To the account's webhook URL, if it has one and wants this event. */
  webhook(news: News): readonly number[];
}

/** "Whether deposit.onchain.successful can be subscribed to: not shown": it comes with the events of its onramp. */
const COMES_WITH: Readonly<Record<string, string>> = {
  'deposit.onchain.successful': 'transaction.onramp.status.updated',
  'refund.completed': 'transaction.offramp.status.updated',
  'refund.failed': 'transaction.offramp.status.updated',
};

/** Puts a report into the form of its stream: an envelope if it is signed, else the bare fields. */
export function createAnnounce(deps: { deliveries: Deliveries; settings: LiveSettings; chance: Chance }): Announce {
  const { deliveries, settings, chance } = deps;

  function send(stream: Stream, url: string, enveloped: boolean, news: News): readonly number[] {
    const { event, reference, status } = news;
    const { vocabulary, numbersAsStrings } = settings.current();
    const spelt =
      vocabulary === 'live' ? asLiveSpells(news.data, chance('spelling', stream, event, reference, status)) : news.data;
    const data = numbersAsStrings ? withNumbersAsText(spelt) : spelt;
    const body = JSON.stringify(enveloped ? { event, data } : data);
    return deliveries.send({ stream, reference, status, event, url, body });
  }

  return {
    callback({ url, ...news }) {
      const { callbackSecret, callbackProfile, webhookProfile } = settings.current();
      const signed = callbackSecret !== null && (callbackProfile ?? webhookProfile) !== 'unsigned';
      return send('callback', url, signed, news);
    },
    webhook(news) {
      const { webhookUrl, webhookEvents, webhookProfile, webhookSecret } = settings.current();
      const wanted = COMES_WITH[news.event] ?? news.event;
      // "An empty `webhook_events` means all" (the live service).
      if (webhookUrl === null || (webhookEvents.length > 0 && !(webhookEvents as string[]).includes(wanted))) return [];
      return send('webhook', webhookUrl, webhookSecret !== null && webhookProfile !== 'unsigned', news);
    },
  };
}

/**
 * "The same event may say `reference_id` or `referenceId`, and `reference_number` as "MP250101001" or a number"
 * (the live service). `chance` decides. Pure.
 */
function asLiveSpells(data: object, chance: number): object {
  const [referenceName, numberName] =
    chance < 0.5 ? ['reference_id', 'reference_number'] : ['referenceId', 'referenceNumber'];
  return Object.fromEntries(
    Object.entries(data).map(([member, value]: [string, unknown]) => {
      if (member === 'reference_id' || member === 'referenceId') return [referenceName, value];
      if (member !== 'reference_number' && member !== 'referenceNumber') return [member, value];
      return [numberName, chance < 0.75 && typeof value === 'number' ? liveNumber(value) : value];
    }),
  );
}
