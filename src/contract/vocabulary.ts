/**
 * The enumerations of the service, words verbatim ("Enumerations" of the interface). This file imports nothing: it is
 * the only part of the contract whose values workflows may import.
 */

export const FIAT_CURRENCIES = [
  'KES',
  'GHS',
  'NGN',
  'ZAR',
  'USD',
  'XOF',
  'ZMW',
  'XAF',
  'SLE',
  'CDF',
  'TZS',
  'UGX',
  'EGP',
  'MWK',
  'RWF',
  'ETB',
  'MZN',
  'LSL',
  'GNF',
  'USDT',
  'BTC',
  'ETH',
  'USDC',
] as const;
export type FiatCurrency = (typeof FIAT_CURRENCIES)[number];

/** "Limits" of the interface: the currencies of a card deposit at present. */
export const CARD_DEPOSIT_CURRENCIES = ['ZAR'] as const;

export const OFFRAMP_CURRENCIES = [
  'KES',
  'GHS',
  'TZS',
  'UGX',
  'ZMW',
  'XAF',
  'XOF',
  'CDF',
  'RWF',
  'ETB',
  'ZAR',
] as const;

export const CHAINS = [
  'ETHEREUM',
  'CELO',
  'AVALANCHE',
  'POLYGON',
  'ARBITRUM',
  'OPTIMISM',
  'STELLAR',
  'TRON',
  'FUSE',
  'LIGHTNING',
  'SOLANA',
  'PROVENANCE',
  'CARDANO',
  'HEDERA',
  'BASE',
  'LISK',
  'VICTION',
  'SCROLL',
] as const;
export type Chain = (typeof CHAINS)[number];

export const TOKENS = [
  'CUSD',
  'USDC',
  'USDT',
  'USDT0',
  'SAT',
  'BTC',
  'HASH',
  'FUSE',
  'HBAR',
  'USDGLO',
  'CKES',
  'CGHS',
  'MSAT',
  'XLM',
  'ADA',
] as const;
export type Token = (typeof TOKENS)[number];

export const BRIDGE_CHAINS = [
  'CELO',
  'ETHEREUM',
  'ARBITRUM',
  'AVALANCHE',
  'BINANCE',
  'POLYGON',
  'OPTIMISM',
  'FUSE',
  'TRON',
  'PROVENANCE',
  'SOLANA',
  'HEDERA',
  'STELLAR',
  'BASE',
  'LISK',
  'VICTION',
  'SCROLL',
  'LIGHTNING',
] as const;

export const BRIDGE_TOKENS = [
  'CUSD',
  'USDC',
  'USDT',
  'BUSD',
  'HASH',
  'HBAR',
  'USDGLO',
  'CKES',
  'CGHS',
  'MSAT',
] as const;

export const BRIDGE_TRANSACTION_TYPES = ['cross_border', 'bridge', 'chain_settlement'] as const;

export const CHECKOUT_PAYMENT_METHODS = ['PAYBYBANK', 'CARD'] as const;

export const WEBHOOK_EVENTS = [
  'transaction.status.updated',
  'transaction.deposit.status.updated',
  'transaction.withdrawal.status.updated',
  'transaction.onramp.status.updated',
  'transaction.offramp.status.updated',
  'payment.confirmed',
  'kyc.status.changed',
  'refund.lightning.invoice_needed',
  'system.event',
] as const;

export const DEPOSIT_STATUSES = ['PENDING', 'SUCCESSFUL', 'FAILED'] as const;
export type DepositStatus = (typeof DEPOSIT_STATUSES)[number];

export const BRIDGE_STATUSES = [
  'DEPOSIT_INITIATED',
  'DEPOSIT_CONFIRMED',
  'PAYMENT_SENT',
  'PAYMENT_CONFIRMED',
  'SETTLING',
  'COMPLETED',
  'FAILED',
  'REFUNDED',
] as const;
export type BridgeStatus = (typeof BRIDGE_STATUSES)[number];

/** Mobile money networks that the interface shows in request shapes. */
export const MOBILE_NETWORKS = ['MTN', 'VODAFONE', 'AIRTEL', 'MPESA'] as const;

/** "Limits" of the interface: how long a quote of the bridge may be used. */
export const QUOTE_VALIDITY_SECONDS = 60;
