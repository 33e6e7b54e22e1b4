import { describe, expect, it, vi } from 'vitest';
import { CredentialConnections } from '../../../../src/database/postgres/credential-connections.js';

describe('the connections for credentials', () => {
  const opened = (connections: CredentialConnections) => {
    const client = new connections.Client({ host: '127.0.0.1', port: 1 });
    return { client, destroy: vi.spyOn(client.connection.stream, 'destroy') };
  };

  it('are all closed at once', () => {
    const connections = new CredentialConnections();
    const all = [opened(connections), opened(connections)];
    const others = opened(new CredentialConnections());
    connections.cut();
    expect([...all, others].map(({ destroy }) => destroy.mock.calls.length)).toEqual([1, 1, 0]);
  });

  it('are removed when they have ended', () => {
    const connections = new CredentialConnections();
    const { client, destroy } = opened(connections);
    client.emit('end');
    connections.cut();
    expect(destroy).not.toHaveBeenCalled();
  });
});
