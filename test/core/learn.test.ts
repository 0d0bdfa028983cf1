import { describe, expect, it } from '@jest/globals';
import { cryptoSendPlan } from '../../workflows/crypto-send.js';
import { newKnown, type Known, type Result, type Step } from '../../workflows/engine/known.js';
import { learn } from '../../workflows/engine/learn.js';
import { step } from '../../workflows/engine/situation.js';
import { view } from '../../workflows/engine/view.js';

const TIMES = { timeScale: 1, patienceMs: 1_000, settleMs: 90_000, graceMs: 0, deadlineMs: 3_600_000 };
const PREPARED = { windows: { settleMs: 90_000 }, steps: { send: { facts: {} } } } as never;

const begun = (): Known => newKnown(['send'], TIMES, 0);
const after = (known: Known, what: Step, result: Result): Known => {
  const began = learn(known, { is: 'began', step: what }, 0);
  return learn(began, { is: 'result', step: what, result }, 0);
};
const checked = (claim: 'free' | 'ordered' | 'sending', sent: 'nothing' | 'unknown' = 'unknown'): Known =>
  after(begun(), step('check', ''), {
    of: 'check',
    prepared: PREPARED,
    refusal: null,
    claims: { send: { claim, sent } },
    events: [],
  });
const ofSend = ({ requests }: Known) => requests['send'];

describe('what a flow knows of its POST', () => {
  it('is that two may have left if an earlier run of it had another send ordered', () => {
    expect(ofSend(checked('ordered'))).toMatchObject({ claim: 'ordered', maybeTwice: true });
  });

  it('is that the record under its reference is of another payment, also while the lookup cannot tell', () => {
    const found = { claim: 'sending', windowOver: false, isOther: false, shown: {} } as const;
    const other = after(checked('sending'), step('ask', 'send'), { of: 'ask', lookup: 'other', ...found });
    const outage = after(other, step('look', 'send', 3), { of: 'look', lookup: 'cannot-tell', ...found });
    expect(ofSend(outage)?.lookup?.says).toBe('other');
  });

  it('is that an earlier run may have sent, and that nothing is certain, if its claim is of another request', () => {
    const known = after(begun(), step('check', ''), {
      of: 'check',
      prepared: PREPARED,
      refusal: null,
      claims: { send: { claim: 'answered', sent: 'unknown', isOther: true } },
      events: [],
    });
    expect(view(known, cryptoSendPlan, 0)).toMatchObject({ executed: 'shown', request: { isOther: true } });
  });

  it('is not that two have left if a void finds its own send under way', () => {
    const sending = learn(checked('free', 'nothing'), { is: 'began', step: step('send', 'send') }, 0);
    const voided = after(sending, step('void', '', 1, { stop: 'cancelled' }), {
      of: 'void',
      isDone: false,
      claims: { send: { claim: 'sending', sent: 'unknown' } },
      events: [],
    });
    expect(ofSend(voided)).toMatchObject({ claim: 'sending', answer: null, maybeTwice: false });
    expect(view(voided, cryptoSendPlan, 0).is.maybeSent).toBe(true);
  });

  it('is that it may have been sent once it was, whatever a claim that is open again says', () => {
    const taken = after(checked('sending'), step('take-back', 'send'), {
      of: 'take-back',
      claim: 'reserved',
      sent: 'nothing',
    });
    expect(ofSend(taken)).toMatchObject({ claim: 'sending' });
  });

  it('is that its answer is to be read if the claim is found answered when an order is taken back', () => {
    const taken = after(checked('sending'), step('take-back', 'send'), {
      of: 'take-back',
      claim: 'answered',
      sent: 'unknown',
    });
    expect(ofSend(taken)).toMatchObject({ claim: 'answered', byClaim: true, lookup: null });
  });

  it('is that another send may be ordered if that order was given up', () => {
    const ordering = learn(checked('sending'), { is: 'began', step: step('order-send', 'send', 1) }, 0);
    const [running] = ordering.running;
    const givenUp = learn(ordering, { is: 'cancelled', step: running ?? step('order-send', 'send', 1) }, 0);
    expect(ofSend(givenUp)).toMatchObject({ maybeOrdered: true });
  });
});

describe('the status of a payment', () => {
  const following = (known: Known, word: string): Known =>
    after(known, step('follow', 'send'), { of: 'follow', lookup: 'shown', word, shown: {} });

  it('that is another one at each lookup is no news after twenty words, until one of them ends something', () => {
    let known = checked('sending');
    for (let n = 0; n < 30; n += 1) known = following(known, `WORD-${n}`);
    expect(ofSend(known)?.words).toHaveLength(20);
    expect(ofSend(following(known, 'SUCCESSFUL'))?.words).toContain('SUCCESSFUL');
  });

  it('can be asked again once a lookup has answered', () => {
    const refused = after(checked('sending'), step('follow', 'send'), { of: 'cannot-ask', why: 'refused' });
    expect(ofSend(refused)?.unaskable).toBe('refused');
    expect(ofSend(following(refused, 'PENDING'))?.unaskable).toBeNull();
  });
});
