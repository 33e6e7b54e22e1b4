import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { RefusedRequest } from '../../observability/refusals/refused-request.js';
import { count } from '../format/numbers.js';
import { Moment } from '../format/times.js';
import { Table } from '../parts/table.js';
import { KeyName, ModelName, RefusalReason } from './request-cells.js';

interface RefusedTableProps {
  readonly refused: readonly RefusedRequest[];
  readonly keys: readonly ListedApiKey[] | undefined;
}

/** The latest refused requests of an account, with the reason. */
export function RefusedTable({ refused, keys }: RefusedTableProps) {
  return (
    <>
      <Table
        caption="Refused requests, latest first"
        class="requests"
        rows={refused}
        columns={[
          { title: 'Time (UTC)', cell: ({ refusedAt }) => <Moment at={new Date(refusedAt)} withSeconds /> },
          { title: 'Reason', cell: (each) => <RefusalReason refused={each} /> },
          { title: 'Status', isNumber: true, cell: ({ status }) => status },
          { title: 'Similar', isNumber: true, cell: ({ similar }) => (similar === 0 ? '–' : `${count(similar)} more`) },
          { title: 'Model', cell: ({ model }) => <ModelName id={model} /> },
          { title: 'Key', cell: (each) => <KeyName {...each} keys={keys} /> },
          { title: 'Request ID', cell: ({ requestId }) => <code>{requestId}</code> },
        ]}
      />
      <p class="fine">
        Refused requests cost nothing and have no receipt. Of similar requests in a minute, the first 5 and the last are
        kept, for 7 days.
      </p>
    </>
  );
}
