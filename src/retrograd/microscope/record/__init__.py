"""record(): what happened, in order.  A recording is data: tables and events, in memory or in a file."""
