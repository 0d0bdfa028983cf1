import { bad, type Finding, good, note } from './finding.js';
import { EXIT } from '../exit-codes.js';

/** What signed webhooks may be off: signatures that are older or younger are refused. */
const SIGNATURE_TOLERANCE_SECONDS = 300;
const WORTH_A_NOTE_SECONDS = 5;

/** Compares our clock with the `Date` of an answer, which is exact to a second and to the time that the answer took. */
export function checkClock(date: string | null, askedAtMs: number, answeredAtMs: number): readonly Finding[] {
  const theirsMs = Date.parse(date ?? '');
  if (!Number.isFinite(theirsMs))
    return [note('clock', 'the service tells no date, so the clocks cannot be compared.')];
  const earliestMs = theirsMs - answeredAtMs;
  const latestMs = theirsMs + 1_000 - askedAtMs;
  const offMs = earliestMs > 0 ? earliestMs : latestMs < 0 ? latestMs : 0;
  const seconds = Math.abs(Math.round(offMs / 1_000));
  const says = `ours is ${seconds} s ${offMs > 0 ? 'behind' : 'ahead of'} the service's`;
  if (seconds > SIGNATURE_TOLERANCE_SECONDS) {
    return [bad('clock', `${says}: signed webhooks are refused. Set this machine's clock by NTP.`, EXIT.refused)];
  }
  if (seconds > WORTH_A_NOTE_SECONDS) return [note('clock', `${says}. Quotes are timed by durations and do not mind.`)];
  return [good('clock', "agrees with the service's")];
}
