// Starts a bridge transfer and waits until it ends or parks. In this repository:
// `node --import ./tools/typescript.mjs examples/start-and-wait.ts order-1004`; in yours, after `npm install` of Towline's
// package, like any other file. Repeating it is safe: one reference is one flow. So take a reference that you have kept
// before (the id of your order), and after a crash simply run it again.
// Needs a running Towline (`npm start`); GATEWAY_URL and TOWLINE_TOKEN name another one than this machine's.
import { OtherRequestError, Towline, type FlowInput } from 'towline';

const { GATEWAY_URL = 'http://127.0.0.1:8400', TOWLINE_TOKEN = 'dev-token' } = process.env;
const towline = new Towline({ baseUrl: GATEWAY_URL, token: TOWLINE_TOKEN });

const transfer: FlowInput<'bridge-transfer'> = {
  customer_key: 'customer-1',
  provider_reference_id: process.argv[2] ?? `order-${Date.now()}`,
  // Amounts are decimal strings: nothing on their way rounds them.
  amount: '1000.50',
  source_currency: 'KES',
  wallet_id: 'wallet-1',
  transaction_type: 'cross_border',
  chain: 'CELO',
  token: 'USDC',
  crypto_payment: { address: '0x1111111111111111111111111111111111111111', crypto_amount: '7.5' },
  settlement: {
    amount: '100',
    currency: 'ZAR',
    country: 'ZA',
    recipient: { phone_number: '+27821234567', account_holder_name: 'Thandi Example' },
  },
};

try {
  const { flowId } = await towline.start('bridge-transfer', transfer);
  console.log(`${flowId} runs`);
  // Through restarts of the gateway. `towline.result` waits on while a person decides about a parked flow.
  const flow = await towline.wait(flowId, { timeoutMs: 120_000 });
  switch (flow.state) {
    case 'parked':
      console.log(
        `${flowId} waits for a person: ${flow.parked?.reason}. Can be ordered: ${flow.parked?.actions.join()}`,
      );
      break;
    case 'running':
      console.log(`${flowId} is still on its way: ${flow.stage}`);
      break;
    default:
      console.log(`${flowId}: ${flow.state}. ${flow.outcome?.detail}`);
  }
} catch (error) {
  // Every other error says what to do, too. None of them means that the transfer failed: that is only ever a state.
  if (!(error instanceof OtherRequestError)) throw error;
  console.error(`The reference belongs to another transfer: ${error.message}`);
  process.exitCode = 1;
}
