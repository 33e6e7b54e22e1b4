import { ChatPlugin } from '../../plugin-api/chat-plugin.decorator.js';
import { ReceiptSemaphore, StreamReceipts } from './stream-receipts.js';
import { UsageController } from './usage.controller.js';

/** The reports and receipts that the API has for callers. */
@ChatPlugin({
  name: 'reports',
  compatibility: '^1',
  controllers: [UsageController],
  providers: [StreamReceipts, ReceiptSemaphore],
})
export class ReportsPlugin {}
