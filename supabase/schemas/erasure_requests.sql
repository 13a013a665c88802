-- An erasure request remains until the company deletes the account or rejects the request, or the client withdraws it.
create table private.erasure_requests (
  account_id uuid primary key references auth.users (id) on delete cascade,
  requested_at timestamptz not null default now()
);
alter table private.erasure_requests enable row level security;

-- Creates or withdraws the caller's request to erase the account.
create function public.set_erasure_request(requested boolean) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform private.reject_if(not private.has_valid_session() or not private.is_client(), 403, 'Log in again to continue.');
  if requested then
    insert into private.erasure_requests (account_id) values (auth.uid()) on conflict do nothing;
    if found then
      perform private.limit_daily_actions(auth.uid(), 'erasure requests', 20);
    end if;
  else
    delete from private.erasure_requests where account_id = auth.uid();
  end if;
end
$$;

-- Closes a client's account before the account is deleted, and returns the account's email address.
-- Raises PT409 if the retention period of a shipment has not ended. The retention period of withdrawn shipments ends.
create function public.start_erasure(account_id uuid, reason text, actor_name text default null) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  retention_end date := private.account_retention_end(account_id);
  address text;
begin
  perform private.require_client(start_erasure.account_id);
  perform private.reject_if(
    retention_end >= (now() at time zone 'UTC')::date, 409,
    format('Nothing was deleted. We must store the shipment records of this account until %s.',
      to_char(retention_end, 'FMDD FMMonth YYYY'))
  );
  update auth.users set banned_until = now() + interval '100 years'
  where id = start_erasure.account_id
  returning email into address;
  update public.shipments set retention_ends_on = (now() at time zone 'UTC')::date - 1
  where user_id = start_erasure.account_id and withdrawn_at is not null;
  delete from auth.sessions where user_id = start_erasure.account_id;
  perform private.insert_audit_entry(actor, 'account erase', account_id => start_erasure.account_id, reason => trimmed_reason);
  return address;
end
$$;

-- Rejects a client's erasure request and returns the client's email address.
-- Raises PT409 if the client has no open request.
create function public.reject_erasure(
  account_id uuid, reason text, idempotency_key uuid default null, actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('reject erasure', account_id, reason));
  trimmed_reason text := private.require_reason(reason);
  address text;
begin
  if private.is_repeated_action(key) then
    return (select email from auth.users where users.id = reject_erasure.account_id);
  end if;
  delete from private.erasure_requests as erasure using auth.users
  where erasure.account_id = reject_erasure.account_id and users.id = erasure.account_id
  returning users.email into address;
  perform private.reject_if(address is null, 409, 'This client has no open erasure request.');
  perform private.insert_audit_entry(
    actor, 'account reject-erasure', account_id => reject_erasure.account_id, idempotency_key => key,
    reason => trimmed_reason
  );
  return address;
end
$$;

grant execute on function public.set_erasure_request to authenticated;
grant execute on function public.start_erasure, public.reject_erasure to authenticated, service_role;
