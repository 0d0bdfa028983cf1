import { post, type Resolve, resolveByDns } from '../callbacks/index.js';
import type { NotifyTarget } from '../config/notify-urls.js';
import { messageFor } from './forms.js';
import type { Notice } from './notice.js';

/** Shorter than the remaining duty after a process has renewed it. */
const TIMEOUT_MS = 4_000;

/** What went wrong, as a sentence without the URL; undefined if the receiver accepted it. */
export async function postNotice(
  target: NotifyTarget,
  notices: readonly [Notice, ...Notice[]],
  how: { readonly secrets: () => readonly string[]; readonly resolve?: Resolve | undefined; readonly nowMs: number },
): Promise<string | undefined> {
  const { headers, body } = messageFor(target, notices, { secret: how.secrets()[0], nowMs: how.nowMs });
  return postTo(target.url, headers, body, how.resolve);
}

/** To an address that the operator has set: their own network is as good as the internet. */
export async function postTo(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  resolve: Resolve = resolveByDns,
): Promise<string | undefined> {
  const policy = { allowLoopback: true, allowPrivate: true };
  try {
    const { httpStatus } = await post(url, headers, body, { policy, resolve, timeoutMs: TIMEOUT_MS });
    return httpStatus >= 200 && httpStatus < 300 ? undefined : `The receiver answered ${httpStatus}.`;
  } catch (error) {
    const isOurs = error instanceof Error && /^Callback\w+Error$/.test(error.name);
    return isOurs ? error.message : 'The notification failed.';
  }
}
