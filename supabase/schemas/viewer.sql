-- The signed-in person of this session: email, name, verified second factors (oldest first), whether the session has AAL2, and the
-- role at the desk. Null after the session has ended: an access token lives for up to an hour longer. Clients cannot read the
-- auth schema, so this runs as its owner; it returns only the caller's own data.
create function private.viewer() returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  return (
    select jsonb_build_object(
      'email', account.email,
      'full_name', account.raw_user_meta_data ->> 'full_name',
      'has_aal2', coalesce(session.aal::text = 'aal2', false),
      'factors', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', factor.id, 'name', coalesce(factor.friendly_name, ''), 'created_at', factor.created_at
        ) order by factor.created_at, factor.id), '[]'::jsonb)
        from auth.mfa_factors as factor
        where factor.user_id = account.id and factor.status = 'verified'
      ),
      'staff', (
        select jsonb_build_object('name', colleague.name, 'role', colleague.role)
        from public.staff_members as colleague
        where colleague.account_id = account.id and colleague.removed_at is null
      )
    )
    from auth.users as account
    join auth.sessions as session on session.user_id = account.id
    where account.id = (select auth.uid()) and session.id = ((select auth.jwt()) ->> 'session_id')::uuid
  );
end
$$;
grant execute on function private.viewer() to authenticated;

-- What a portal page costs the database is mostly who asks, asked again by the policies of each table that a statement reads.
-- Whether the session is good for the account, and whether the caller is a colleague: planned once in a session of the
-- database, and cheapest for clients. A code counts as long as auth holds the session for lifted by it: no longer for the
-- token's hour after the factor that lifted it was removed while another remains.
create function private.has_valid_session() returns boolean
language plpgsql stable security definer
set search_path = ''
as $$
declare
  claims constant jsonb := auth.jwt();
  caller constant uuid := auth.uid();
begin
  return exists (
    select from auth.sessions as session
    where session.id = (claims ->> 'session_id')::uuid and session.user_id = caller
      and (
        (claims ->> 'aal' = 'aal2' and session.aal::text = 'aal2')
        or not exists (
          select from auth.mfa_factors as factor where factor.user_id = caller and factor.status = 'verified'
        )
      )
  );
end
$$;
grant execute on function private.has_valid_session() to authenticated;

-- Who asks alone: for a form, before it is acted on.
create function public.get_viewer() returns jsonb
language plpgsql stable
security invoker
set search_path = ''
as $$
#variable_conflict use_column
begin
  return (
    select jsonb_build_object('viewer', private.viewer())
  );
end
$$;
grant execute on function public.get_viewer() to authenticated;

-- Where an account is logged in: the sessions that can still be used. Cookies live 30 days, and a session that owes its code
-- opens nothing.
create function private.active_sessions(account_id uuid) returns setof uuid
language sql stable security definer
set search_path = ''
as $$
  select session.id
  from auth.sessions as session
  where session.user_id = active_sessions.account_id and coalesce(session.updated_at, session.created_at) > now() - interval '30 days'
    and (
      session.aal = 'aal2' or not exists (
        select from auth.mfa_factors as factor where factor.user_id = active_sessions.account_id and factor.status = 'verified'
      )
    )
$$;

-- Ends every session of an account: its access tokens open nothing from now on, and none is renewed.
create function private.end_sessions(account_id uuid) returns void
language sql volatile security definer
set search_path = ''
as $$
  delete from auth.sessions where user_id = end_sessions.account_id
$$;
